// Page images: blocks of the file, or files beside it; made ready when first shown.

import { Data } from "./data";

const made = new Map<string, string>();

export class Images {
  constructor(private data: Data) {}

  // Where a page's image can be had, or nothing.
  url(page: number): string | null {
    const place = this.data.head.images?.places?.[page];
    if (place === undefined || place === null || place < 0) return null;
    const beside = this.data.head.images.beside;
    if (beside) return `${encodeURIComponent(beside)}/${place}.webp`;
    const key = String(place);
    if (!made.has(key)) {
      const block = document.querySelector(`script[data-image="${place}"]`);
      if (!block) return null;
      const text = atob(block.textContent as string);
      const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
      made.set(key, URL.createObjectURL(new Blob([bytes], { type: "image/webp" })));
    }
    return made.get(key) as string;
  }

  // Why a page that has an image does not show it.
  note(page: number): string {
    const place = this.data.head.images?.places?.[page];
    if (place === -4) return "image left out: nothing is wrong on this page, use --sidecar";
    return place === -2 ? this.data.head.images.left_out : place === -3 ? "image refused: it cannot be read, or has over 50 megapixels" : "";
  }

  aspect(page: number): number | null {
    return this.data.head.images?.aspects?.[page] ?? null;
  }
}
