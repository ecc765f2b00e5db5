import type { RemoteType } from '../config/provider-types.ts';

/** What a provider takes as an image; what is larger or of another type it refuses, with the whole request. */
export interface ImageLimits {
  readonly types: readonly string[];
  /** The file, not its base64. */
  readonly bytes: number;
  /** The longer side, in pixels; absent where the provider makes it smaller itself. */
  readonly side?: number;
}

const MIB = 1024 * 1024;
const COMMON = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** 5 MiB are counted over the base64. */
const CLAUDE: ImageLimits = { types: COMMON, bytes: 3.75 * MIB, side: 8_000 };
const OPENAI: ImageLimits = { types: COMMON, bytes: 20 * MIB };
/** A request with everything in it may have 20 MB. */
const GEMINI: ImageLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'],
  bytes: 13 * MIB,
};

/** From the providers' published limits; a type that is not here takes what its endpoint takes, which nobody knows beforehand. */
const LIMITS: Partial<Record<RemoteType, ImageLimits>> = {
  anthropic: CLAUDE,
  bedrock: CLAUDE,
  openai: OPENAI,
  'openai-chat': OPENAI,
  azure: OPENAI,
  google: GEMINI,
  vertex: GEMINI,
  xai: { types: ['image/png', 'image/jpeg'], bytes: 20 * MIB },
  mistral: { types: COMMON, bytes: 10 * MIB },
  groq: { types: COMMON, bytes: 3 * MIB },
};

/** What a type of provider takes as an image; undefined where that is not known. */
export function imageLimitsOf(type: RemoteType): ImageLimits | undefined {
  return LIMITS[type];
}
