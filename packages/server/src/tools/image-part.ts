import type { ImagePart, TextPart } from '@tandem/protocol/message';
import { IMAGE_BYTES } from './limits.ts';
import { imageType } from './image-type.ts';
import type { ToolFacts } from './tool.ts';

/**
 * An image as the model gets it: a part when it takes images (R46), else a sentence that says what is missing (P24, F52).
 * `name` is how the sentence calls it.
 */
export function imagePart(
  data: Uint8Array,
  name: string,
  facts: ToolFacts,
  declaredType?: string,
): ImagePart | TextPart {
  const mediaType = imageType(data) ?? (declaredType?.startsWith('image/') ? declaredType : undefined);
  const note = (text: string): TextPart => ({ type: 'text', text });
  if (!mediaType) return note(`${name} is binary data of ${data.length} bytes that cannot be shown as text.`);
  if (!facts.vision)
    return note(`${name} is an image (${mediaType}, ${data.length} bytes). This model takes no images.`);
  if (data.length > IMAGE_BYTES) {
    return note(
      `${name} is an image (${mediaType}) of ${data.length} bytes, above the limit of ${IMAGE_BYTES}. Make it smaller.`,
    );
  }
  return { type: 'image', image: `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`, mediaType };
}
