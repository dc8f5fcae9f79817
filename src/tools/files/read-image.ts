import { failure } from '../output.js';
import type { ToolOutput } from '../tool.js';
import { dimensionsOf, type ImageType } from './file-type.js';

/** What a model takes: 5 MB of base64, 8000 pixels a side. */
const IMAGE_BYTES = 3.75 * 1024 * 1024;
const IMAGE_EDGE = 8000;

export function readImage(image: {
  path: string;
  bytes: Uint8Array;
  type: ImageType;
  note: (shown: { whole?: boolean }) => void;
}): ToolOutput {
  const { path, bytes, type } = image;
  if (bytes.length > IMAGE_BYTES) {
    return failure(
      `${path} is an image of ${bytes.length} bytes; at most ${IMAGE_BYTES} can be shown. Make a smaller copy (for example with \`magick\` or \`sips\`) and read that.`,
    );
  }
  // A damaged image would make every later request of the session fail.
  const size = dimensionsOf(bytes, type);
  if (size === undefined)
    return failure(`${path} is a damaged ${type} image: its header has no size.`);
  if (size.width > IMAGE_EDGE || size.height > IMAGE_EDGE) {
    return failure(
      `${path} has ${size.width}x${size.height} pixels; at most ${IMAGE_EDGE} a side can be shown. Make a smaller copy and read that.`,
    );
  }
  image.note({});
  const mediaType = `image/${type}`;
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return {
    content: [
      { type: 'text', text: `${path}: ${type}, ${size.width}x${size.height} pixels` },
      { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } },
    ],
    structured: {
      type: 'image',
      file: {
        base64,
        type: mediaType,
        originalSize: bytes.length,
        dimensions: {
          originalWidth: size.width,
          originalHeight: size.height,
          displayWidth: size.width,
          displayHeight: size.height,
        },
      },
    },
  };
}
