import { z } from 'zod';
import { LIMITS } from './limits.ts';
import type { RemoteType } from './provider-types.ts';
import { PROVIDER_TYPE, providerTypeOf } from './provider-types.ts';

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

/** Money, in what `currency` says. */
const money = z.number().min(0);
const currency = z.string().regex(/^[A-Z]{3}$/, 'expected a currency of three capital letters, such as USD');

/** Money a million tokens. */
const rates = {
  input: money,
  output: money,
  cacheRead: money.optional(),
  cacheWrite: money.optional(),
};

/** The price of a model; a tier holds for the whole of each call whose prompt has more tokens than `above`. */
const priceSchema = z.strictObject({
  ...rates,
  tiers: z
    .array(z.strictObject({ above: tokens, ...rates }))
    .transform(tiers => tiers.toSorted((a, b) => a.above - b.above)) // the last that holds is the one that counts
    .optional(),
  currency: currency.optional(),
  date: z.string().optional(),
});

const budgetSchema = z.strictObject({
  amount: z.number().positive(),
  currency: currency.default('USD'),
  per: z.enum(['day', 'month']),
});

/** One model of a provider. What is not said is assumed small. */
const modelSchema = z.strictObject({
  id: name,
  name: name.optional(),
  description: z.string().optional(),
  fallback: z.array(name).optional(),
  contextWindow: tokens.optional(),
  maxOutput: tokens.optional(),
  vision: z.boolean().optional(),
  aliases: z.array(name).optional(),
  parameters: z.array(parameter).optional(),
  maxMode: z.strictObject({ contextWindow: tokens.optional(), maxOutput: tokens.optional() }).optional(),
  price: priceSchema.optional(),
});

/** The values of `type`, best known first. */
export const PROVIDER_TYPES: readonly string[] = [...Object.keys(PROVIDER_TYPE), 'demo'];

const remote = {
  concurrency: z.preprocess(digitsAsNumber, z.int().min(1).max(10_000)).optional(),
  apiKey: z.string().min(1).optional(),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name'), z.string()).optional(),
  models: z.array(modelSchema).optional(),
};

const withAddress = z.strictObject({
  type: z.literal(typesWhere(type => type.baseUrl === undefined && type.wire !== 'converse')),
  baseUrl: address,
  ...remote,
});

const withKnownAddress = z.strictObject({
  type: z.literal(typesWhere(type => type.baseUrl !== undefined)),
  baseUrl: address.optional(),
  ...remote,
});

const bedrockSchema = z.strictObject({
  type: z.literal('bedrock'),
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as us-east-1'),
  accessKeyId: name.optional(),
  secretAccessKey: name.optional(),
  sessionToken: name.optional(),
  baseUrl: address.optional(),
  ...remote,
});

function typesWhere(fits: (type: ReturnType<typeof providerTypeOf>) => boolean): RemoteType[] {
  return (Object.keys(PROVIDER_TYPE) as RemoteType[]).filter(type => fits(providerTypeOf(type)));
}

const demoSchema = z.strictObject({ type: z.literal('demo') });

const providerSchema = z.discriminatedUnion('type', [withAddress, withKnownAddress, bedrockSchema, demoSchema]);

/** A host with or without a port, or every host below a domain. */
const host = z
  .string()
  .regex(
    /^(?:(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/,
    'expected a host such as api.example.com, gateway.local:8080 or *.example.com',
  );

const credentialsSchema = z.union([z.enum(['allow', 'forbid']), z.strictObject({ hosts: z.array(host).min(1) })]);

const routeSchema = z.strictObject({
  models: z
    .array(
      z.strictObject({ model: name, weight: z.number().positive().optional(), priority: z.int().min(1).optional() }),
    )
    .min(1),
});

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
  routes: z.record(providerName, routeSchema).optional(),
  auth: z
    .strictObject({
      keys: z.array(
        z.strictObject({
          name,
          sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, 'expected the hex SHA-256 of the key, 64 digits'),
          budget: budgetSchema.optional(),
        }),
      ),
    })
    .optional(),
  store: z
    .strictObject({ url: z.string().regex(/^sqlite:.+$/s, 'expected sqlite:PATH or sqlite::memory:') })
    .optional(),
  limits: limitsSchema.optional(),
  budget: budgetSchema.optional(),
  credentials: credentialsSchema.optional(),
});

export type FileConfig = z.infer<typeof fileSchema>;
export type ModelEntry = z.infer<typeof modelSchema>;
export type ProviderEntry = z.infer<typeof providerSchema>;
