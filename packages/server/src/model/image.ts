import type { ImagePart } from '@tandem/protocol/message';

/** An image as providers take it: base64 with its type, or an address on the web. */
export type ImageData = { mediaType: string; base64: string } | { url: string };

/** The first base64 characters of each kind of image file. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['Qk', 'image/bmp'],
];

/** Reads an image part: a data URI, an http address, or bare base64 whose type is named or recognised (K12). */
export function readImage(part: ImagePart): ImageData | undefined {
  const image = part.image;
  if (typeof image !== 'string' || image === '') return undefined;
  if (/^https?:\/\//i.test(image)) return URL.canParse(image) ? { url: image } : undefined;
  const uri = /^data:([^;,]*)(?:;[^,]*)?;base64,/i.exec(image);
  if (!uri && image.startsWith('data:')) return undefined; // written out, not encoded: no provider takes it
  const base64 = uri ? image.slice(uri[0].length) : image;
  if (base64 === '') return undefined;
  const recognised = SIGNATURES.find(([start]) => base64.startsWith(start))?.[1];
  const named = uri?.[1] || part.mediaType;
  return { base64, mediaType: named?.startsWith('image/') ? named : (recognised ?? 'image/png') };
}
