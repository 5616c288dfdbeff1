// Which kind of report a page is built for; what the others need is left out of it.
declare const IS_BOXES: boolean, IS_FIELDS: boolean, IS_WORDS: boolean, IS_CHECKS: boolean;
