import type { Request } from './listen.ts';

/** The bearer of a request, or undefined. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers.authorization;
  const found = header?.match(/^Bearer\s+(\S.*)$/i)?.[1];
  return found?.trim();
}
