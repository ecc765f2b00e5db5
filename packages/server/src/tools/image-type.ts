/** First bytes of the image kinds that models take. */
const SIGNATURES: readonly { mediaType: string; bytes: readonly number[]; at?: number }[] = [
  { mediaType: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { mediaType: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { mediaType: 'image/gif', bytes: [0x47, 0x49, 0x46, 0x38] },
  { mediaType: 'image/webp', bytes: [0x57, 0x45, 0x42, 0x50], at: 8 },
];

/** The media type of image bytes, by what they begin with; undefined when no model would take them. */
export function imageType(data: Uint8Array): string | undefined {
  return SIGNATURES.find(({ bytes, at = 0 }) => bytes.every((byte, index) => data[at + index] === byte))?.mediaType;
}
