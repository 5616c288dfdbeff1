// The data block: inflated once, then looked at in place as typed arrays; never one object for each box.

export type Column = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int32Array | Float32Array | Float64Array;
export type Said = string | { measure: string; text: string; tone: string; value: number | null; run?: number };
export type Finding = { mark: string; text: string; address: Record<string, string>; objects: number | null };
export type Issue = { code: string; message: string; file?: string; pointer?: string; count?: number; severity?: string; help?: string };
export type Cell = string | { text: string; reason: string };
export type Section = { title: string; head: string[]; rows: Cell[][]; notes: string[] };
export type Run = {
  name: string;
  kind: "boxes" | "fields" | "words" | "checks" | "tables";
  headline: Said[];
  findings: Finding[];
  issues: Issue[];
  undefined: [string, string][];
  undefined_count: number;
  sections: Section[];
  warning: string;
  reasons?: Record<string, string>;
  confidence?: number | null;
  [key: string]: any;
};
export type Head = {
  format: number;
  task: string;
  version: string;
  signature: string;
  truth: string;
  runs: Run[];
  comparison?: any;
  images?: any;
  columns: Record<string, [string, number, number]>;
};

const TYPES: Record<string, any> = {
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i8: Int8Array, i32: Int32Array, f32: Float32Array, f64: Float64Array,
};

export class Data {
  constructor(public head: Head, private buffer: ArrayBuffer, private start: number) {}

  has(name: string): boolean {
    return name in this.head.columns;
  }

  column(name: string): Column {
    const [type, offset, length] = this.head.columns[name];
    return new TYPES[type](this.buffer, this.start + offset, length);
  }
}

export async function inflate(): Promise<Data> {
  const text = atob((document.getElementById("data") as HTMLElement).textContent as string);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return new Data(head, buffer, 4 + length);
}

// Texts that stand in one column of bytes, with a column of lengths beside it.
export class Texts {
  private starts: Uint32Array;
  private decoder = new TextDecoder();

  constructor(private bytes: Uint8Array, sizes: Column) {
    this.starts = new Uint32Array(sizes.length + 1);
    for (let i = 0; i < sizes.length; i++) this.starts[i + 1] = this.starts[i] + sizes[i];
  }

  get length(): number {
    return this.starts.length - 1;
  }

  at(row: number): string {
    return this.decoder.decode(this.bytes.subarray(this.starts[row], this.starts[row + 1]));
  }
}
