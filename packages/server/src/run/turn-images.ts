import type { MessagePart, ModelMessage } from '@tandem/protocol/message';
import { ImageFitting } from '../model/fit-images.ts';
import type { ImageLimits } from '../model/image-limits.ts';
import type { ModelInfo } from '../model/port.ts';

/** One a kind of provider, so that an image is looked at once, in whatever turn. */
const fittings = new WeakMap<ImageLimits, ImageFitting>();

function fittingOf(limits: ImageLimits): ImageFitting {
  const fitting = fittings.get(limits) ?? new ImageFitting(limits);
  fittings.set(limits, fitting);
  return fitting;
}

/**
 * The images of one turn as the model takes them that answers. What its provider would refuse is told to the person once, in the turn in which it
 * came, and to the model by a note in the place of the image. For a model without vision that note alone stands there, and asks it to
 * tell the person (P24): clients take a notice for a part of its answer.
 */
export class TurnImages {
  readonly #model: () => ModelInfo;
  readonly #notice: (text: string) => void;
  /** Messages that were there before the turn. */
  readonly #before: number;
  readonly #told = new WeakSet<MessagePart>();

  constructor(model: () => ModelInfo, before: number, notice: (text: string) => void) {
    this.#model = model;
    this.#before = before;
    this.#notice = notice;
  }

  async fit(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
    const { vision, images, provider } = this.#model();
    if (!vision || !images) return [...messages];
    const fitted = await fittingOf(images).fit(messages);
    for (const { part, message, why } of fitted.refused) {
      if (message < this.#before || this.#told.has(part)) continue;
      this.#told.add(part);
      this.#notice(
        `An image was left out, because ${provider} would refuse it: ${why}. A smaller one or a PNG can be sent; with the package sharp beside the server, images are made to fit.`,
      );
    }
    return fitted.messages;
  }
}
