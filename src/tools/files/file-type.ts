export type ImageType = 'png' | 'jpeg' | 'gif' | 'webp';

/** What the first bytes say, whatever the name says. Undefined for everything read as text. */
export function fileTypeOf(bytes: Uint8Array): ImageType | 'pdf' | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png';
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg';
  const head = ascii(bytes, 0, 12);
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'webp';
  return head.startsWith('%PDF-') ? 'pdf' : undefined;
}

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** Width and height from the header; undefined when it is damaged. */
export function dimensionsOf(bytes: Uint8Array, type: ImageType): Dimensions | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = READERS[type](view, bytes);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (thrown) {
    // The header ends before the size: damaged, like any header without one.
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

type Reader = (view: DataView, bytes: Uint8Array) => Dimensions | undefined;

const READERS: Readonly<Record<ImageType, Reader>> = {
  png: (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  gif: (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  webp: webpSize,
  jpeg: jpegSize,
};

function webpSize(view: DataView, bytes: Uint8Array): Dimensions | undefined {
  switch (ascii(bytes, 12, 4)) {
    case 'VP8 ':
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

/** Walks the segments to the frame header. */
function jpegSize(view: DataView): Dimensions | undefined {
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    const standsAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += standsAlone ? 2 : 2 + view.getUint16(at + 2);
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

function ascii(bytes: Uint8Array, from: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(from, from + length));
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}
