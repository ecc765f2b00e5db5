import type { MessagePart, ModelMessage } from '@tandem/protocol/message';
import { isPart } from '@tandem/protocol/message';
import { readImage } from './image.ts';
import type { ImageLimits } from './image-limits.ts';

/** Makes an image one that a provider takes; undefined where nothing on this machine can. */
export type Shrink = (image: Buffer, limits: ImageLimits) => Promise<{ data: Buffer; mediaType: string } | undefined>;

/** An image that a provider does not take, and why not, as a sentence about it. */
export interface RefusedImage {
  /** The part of the history, and the number of its message. */
  readonly part: MessagePart;
  readonly message: number;
  readonly why: string;
}

type OnRefused = (part: MessagePart, why: string) => void;
type Fitted = { readonly part: MessagePart; readonly why?: string };

/**
 * The messages with images that a provider takes: those that are too large are shrunk, those that cannot be are replaced by a note
 * to the model. What becomes of an image depends on it alone, so that a prefix stays a prefix (R47); it is done once and remembered
 * as long as its message lives.
 */
export class ImageFitting {
  readonly #limits: ImageLimits;
  readonly #shrink: Shrink;
  readonly #done = new WeakMap<MessagePart, Promise<Fitted>>();

  constructor(limits: ImageLimits, shrink: Shrink = shrinkWithSharp) {
    this.#limits = limits;
    this.#shrink = shrink;
  }

  async fit(
    messages: readonly ModelMessage[],
  ): Promise<{ messages: ModelMessage[]; refused: readonly RefusedImage[] }> {
    const refused: RefusedImage[] = [];
    const fitted: ModelMessage[] = [];
    for (const [number, message] of messages.entries()) {
      const content = await this.#fitParts(message.content, (part, why) =>
        refused.push({ part, why, message: number }),
      );
      fitted.push(content === message.content ? message : { ...message, content: content as MessagePart[] });
    }
    return { messages: fitted, refused };
  }

  /** The same value when nothing in it had to change. */
  async #fitParts(content: unknown, onRefused: OnRefused): Promise<unknown> {
    if (!Array.isArray(content)) return content;
    let isChanged = false;
    const parts: unknown[] = [];
    for (const part of content as MessagePart[]) {
      const next = await this.#fitPart(part, onRefused);
      isChanged ||= next !== part;
      parts.push(next);
    }
    return isChanged ? parts : content;
  }

  async #fitPart(part: MessagePart, onRefused: OnRefused): Promise<MessagePart> {
    if (typeof part !== 'object' || part === null) return part;
    if (isPart(part, 'tool-result')) {
      const result = await this.#fitParts(part.result, onRefused);
      return result === part.result ? part : { ...part, result };
    }
    if (!isPart(part, 'image')) return part;
    let done = this.#done.get(part);
    if (!done) this.#done.set(part, (done = this.#fitImage(part)));
    const fitted = await done;
    if (fitted.why !== undefined) onRefused(part, fitted.why);
    return fitted.part;
  }

  async #fitImage(part: MessagePart & { type: 'image' }): Promise<Fitted> {
    const image = readImage(part as Parameters<typeof readImage>[0]);
    if (image === undefined || 'url' in image) return { part };
    const data = Buffer.from(image.base64, 'base64');
    const flaw = await flawOf(data, image.mediaType, this.#limits);
    if (flaw === undefined) return { part };
    const smaller = await this.#shrink(data, this.#limits).catch(() => undefined);
    if (smaller) {
      const uri = `data:${smaller.mediaType};base64,${smaller.data.toString('base64')}`;
      return { part: { ...part, image: uri, mediaType: smaller.mediaType } };
    }
    const note = `[An image was here that the provider does not take: ${flaw}. Tell the user that it was not looked at.]`;
    return { part: { type: 'text', text: note }, why: flaw };
  }
}

/** What makes a provider refuse an image; undefined when nothing does. */
async function flawOf(data: Buffer, mediaType: string, limits: ImageLimits): Promise<string | undefined> {
  const { imageSize } = await import('image-size');
  let seen: { width: number; height: number; type?: string } | undefined;
  try {
    seen = imageSize(data);
  } catch {
    return 'its data is no image that can be read';
  }
  const type = seen.type === undefined ? mediaType : `image/${seen.type === 'jpg' ? 'jpeg' : seen.type}`;
  if (!limits.types.includes(type)) {
    return `it is of type ${type}, and ${limits.types.map(name => name.slice('image/'.length)).join(', ')} are taken`;
  }
  if (data.length > limits.bytes) return `it has ${megabytes(data.length)}, and ${megabytes(limits.bytes)} are taken`;
  const longer = Math.max(seen.width, seen.height);
  if (limits.side !== undefined && longer > limits.side) {
    return `it is ${seen.width} by ${seen.height} pixels, and ${limits.side} are taken`;
  }
  return undefined;
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(2)} MiB`;

/** Longer sides tell models nothing more: they make them this small themselves. */
const SHRUNK_SIDE = 2_000;
/** Each try has three quarters of the side of the one before it; after five an image is 630 pixels wide and far below every limit. */
const TRIES = 5;

/** Shrinks by `sharp`, where a person has installed it. */
async function shrinkWithSharp(image: Buffer, limits: ImageLimits): ReturnType<Shrink> {
  const sharp = await loadSharp();
  if (!sharp) return undefined;
  let side = Math.min(SHRUNK_SIDE, limits.side ?? SHRUNK_SIDE);
  for (let tries = 0; tries < TRIES; tries++, side = Math.round(side * 0.75)) {
    const data = await sharp(image)
      .rotate()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 85 })
      .toBuffer();
    if (data.length <= limits.bytes) return { data, mediaType: 'image/jpeg' };
  }
  return undefined;
}

/** As much of sharp as is used here: it is not among our dependencies. */
interface SharpImage {
  rotate(): SharpImage;
  resize(options: { width: number; height: number; fit: 'inside'; withoutEnlargement: boolean }): SharpImage;
  flatten(options: { background: string }): SharpImage;
  jpeg(options: { quality: number }): SharpImage;
  toBuffer(): Promise<Buffer>;
}

async function loadSharp(): Promise<((image: Buffer) => SharpImage) | undefined> {
  const name = 'sharp';
  try {
    return ((await import(name)) as { default: (image: Buffer) => SharpImage }).default;
  } catch {
    return undefined; // not installed, or not for this machine
  }
}
