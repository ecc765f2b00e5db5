import { z } from 'zod';
import { LIMITS } from './limits.ts';

const name = z.string().min(1);
/** A name in front of the slash of `provider/id`. */
const providerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected letters, digits, dots, dashes and underscores');
const address = z
  .string()
  .regex(/^https?:\/\/[^\s/@]+(\/[^\s]*)?$/, 'expected an http or https address without a user name');
/** Numbers may come from the environment, as text. */
const digitsAsNumber = (found: unknown) =>
  typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
const tokens = z.preprocess(digitsAsNumber, z.int().positive());

const value = z.union([
  name.transform(text => ({ value: text }) as { value: string; displayName?: string }),
  z.strictObject({ value: name, displayName: z.string().optional() }),
]);

const parameter = z.strictObject({
  id: name,
  displayName: z.string().optional(),
  values: z.array(value).min(1),
});

/** One model of a provider. What is not said is assumed small. */
const modelSchema = z.strictObject({
  id: name,
  name: name.optional(),
  description: z.string().optional(),
  contextWindow: tokens.optional(),
  maxOutput: tokens.optional(),
  vision: z.boolean().optional(),
  aliases: z.array(name).optional(),
  parameters: z.array(parameter).optional(),
});

/** Provider types that work now. */
export const PROVIDER_TYPES = ['openai-compatible', 'demo'] as const;

/** Provider types that the config already knows and that work in a later version. */
export const LATER_PROVIDER_TYPES = ['openai', 'openai-chat', 'anthropic', 'google', 'azure', 'bedrock'] as const;

const compatibleSchema = z.strictObject({
  type: z.literal('openai-compatible'),
  baseUrl: address,
  apiKey: z.string().min(1).optional(),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name'), z.string()).optional(),
  models: z.array(modelSchema).optional(),
});

const demoSchema = z.strictObject({ type: z.literal('demo') });

const providerSchema = z.discriminatedUnion('type', [compatibleSchema, demoSchema]);

const limitsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(LIMITS).map(([key, { least, most }]) => [key, z.int().min(least).max(most).optional()]),
  ) as { [key in keyof typeof LIMITS]: z.ZodOptional<z.ZodInt> },
);

/** The whole file. */
export const fileSchema = z.strictObject({
  listen: z
    .strictObject({
      host: name.optional(),
      port: z.preprocess(digitsAsNumber, z.int().min(0).max(65_535)).optional(),
      allowedOrigins: z
        .array(z.string().regex(/^https?:\/\/[^\s/]+$/, 'expected an origin such as https://example.org'))
        .optional(),
      allowedHosts: z.array(name).optional(),
    })
    .optional(),
  providers: z.record(providerName, providerSchema).optional(),
  defaultModel: name.optional(),
  auth: z
    .strictObject({
      keys: z.array(
        z.strictObject({
          name,
          sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, 'expected the hex SHA-256 of the key, 64 digits'),
        }),
      ),
    })
    .optional(),
  store: z
    .strictObject({ url: z.string().regex(/^sqlite:.+$/s, 'expected sqlite:PATH or sqlite::memory:') })
    .optional(),
  limits: limitsSchema.optional(),
});

export type FileConfig = z.infer<typeof fileSchema>;
export type ModelEntry = z.infer<typeof modelSchema>;
export type ProviderEntry = z.infer<typeof providerSchema>;
