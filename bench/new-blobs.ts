export async function measureNewBlobs(): Promise<never> { throw new Error('x'); }
