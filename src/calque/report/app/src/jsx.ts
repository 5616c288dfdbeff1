// What JSX becomes: calls with children as arguments, which take less room than the automatic kind.
export { Fragment, h } from "preact";
