import type { MessagePart, ModelMessage } from '@tandem/protocol/message';
import { ImageFitting } from '../model/fit-images.ts';
import type { ModelInfo } from '../model/port.ts';

/**
 * The images of one turn as its model takes them. What its provider would refuse is told to the person once, in the turn in which it
 * came, and to the model by a note in the place of the image. For a model without vision that note alone stands there, and asks it to
 * tell the person (P24): clients take a notice for a part of its answer.
 */
export class TurnImages {
  readonly #model: ModelInfo;
  readonly #fitting: ImageFitting | undefined;
  readonly #notice: (text: string) => void;
  /** Messages that were there before the turn. */
  readonly #before: number;
  readonly #told = new WeakSet<MessagePart>();

  constructor(model: ModelInfo, before: number, notice: (text: string) => void) {
    this.#model = model;
    this.#before = before;
    this.#notice = notice;
    this.#fitting = model.vision && model.images ? new ImageFitting(model.images) : undefined;
  }

  async fit(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
    if (!this.#fitting) return [...messages];
    const fitted = await this.#fitting.fit(messages);
    for (const { part, message, why } of fitted.refused) {
      if (message < this.#before || this.#told.has(part)) continue;
      this.#told.add(part);
      this.#notice(
        `An image was left out, because ${this.#model.provider} would refuse it: ${why}. A smaller one or a PNG can be sent; with the package sharp beside the server, images are made to fit.`,
      );
    }
    return fitted.messages;
  }
}
