import { AgentClient, AttemptFailure } from '@tandem/client';
import type { ModelItem } from '@tandem/client';
import { nodeTransport } from '@tandem/client/node';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { plainJson, plainLine, plainText } from '../render/plain-text.ts';
import { openPlace, placeProblem } from '../run/place.ts';
import type { PlaceOptions } from '../run/place.ts';
import type { Surroundings } from '../surroundings.ts';
import { untilAborted, writeTo } from '../surroundings.ts';

/** The flags of `tandem models`, as they were given. */
export interface ModelsOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** The longest line about one model. */
const LINE_CHARACTERS = 200;

/** The models that a server offers, its default first; every name that is shown is one that `--model` takes. */
export async function models(options: ModelsOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, stop } = surroundings;
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  const problem = placeProblem(options);
  if (problem !== undefined) {
    say(problem);
    return EXIT.usage;
  }
  const place = await openPlace(options, surroundings);
  if ('text' in place) {
    say(place.text);
    return place.exitCode;
  }
  for (const notice of place.notices) say(notice);
  try {
    const client = new AgentClient({
      baseUrl: place.url,
      transport: nodeTransport({ http2: 'never' }),
      executors: [],
      ...(place.apiKey !== undefined && { apiKey: place.apiKey }),
    });
    const items = await Promise.race([client.models(), untilAborted(stop)]);
    if (!items) return EXIT.cancelled;
    const lines = options.json ? items.map(plainJson) : items.flatMap(modelLines);
    await writeTo(stdout, lines.map(line => `${line}\n`).join(''));
    if (items.length === 0) say('The server offers no model.');
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    say(error.message);
    return EXIT.failed;
  } finally {
    await place.close();
  }
}

/** One model: its id and name, then below what it can do and costs, what else it is called and what may be chosen. */
function modelLines(item: ModelItem): string[] {
  const { id, displayName, description, aliases, parameters } = item;
  const abilities = abilitiesText(item);
  const about = [displayName !== id && displayName, description].filter(Boolean).join(' — ');
  return [
    plainLine(about === '' ? id : `${id}  ${about}`, LINE_CHARACTERS),
    ...(abilities === '' ? [] : [`    ${plainLine(abilities, LINE_CHARACTERS)}`]),
    ...(aliases?.length ? [`    also ${plainLine(aliases.join(', '), LINE_CHARACTERS)}`] : []),
    ...(parameters ?? []).map(parameter => {
      const values = parameter.values.map(({ value }) => value).join(', ');
      return `    ${plainLine(`${id}[${parameter.id}=…]: ${values}`, LINE_CHARACTERS)}`;
    }),
  ];
}

function abilitiesText({ contextWindow, maxOutput, vision, price }: ModelItem): string {
  const tokens = (count: unknown) =>
    typeof count === 'number' ? `${count.toLocaleString('en-US')} tokens` : undefined;
  const { currency = 'USD' } = price ?? {};
  const amount = (value: number) => (currency === 'USD' ? `$${value}` : `${value} ${currency}`);
  const [all, out] = [tokens(contextWindow), tokens(maxOutput)];
  return [
    all && `${all} in all`,
    out && `${out} an answer`,
    vision === true && 'sees images',
    price && `${amount(price.input)} in and ${amount(price.output)} out a million tokens`,
  ]
    .filter(Boolean)
    .join(', ');
}
