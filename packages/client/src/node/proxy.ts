import { isIP } from 'node:net';

/** The proxy that the environment names for an address; undefined for a direct way. This machine itself is always reached directly. */
export function proxyOf(url: URL, env: NodeJS.ProcessEnv): URL | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  )
    return undefined;
  const read = (name: string) => env[name.toLowerCase()] || env[name];
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (isExcepted(host, port, read('NO_PROXY') ?? '')) return undefined;
  const named = (url.protocol === 'https:' ? read('HTTPS_PROXY') : read('HTTP_PROXY')) ?? read('ALL_PROXY');
  if (named === undefined) return undefined;
  const address = /^\w+:\/\//.test(named) ? named : `http://${named}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new Error('the proxy that the environment names is no http or https address');
  return new URL(address);
}

function isExcepted(host: string, port: string, list: string): boolean {
  return list.split(/[\s,]+/).some(entry => {
    if (entry === '*') return true;
    const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === '' || (wanted !== undefined && wanted !== port)) return false;
    const suffix = name.replace(/^\*?\./, '');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

/** The header that brings a proxy its user and password, when its address holds them. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}
