/**
 * Where the module of a worker is, by its path in `src`. In an executable it stands beside the main one,
 * as `bun build` places entry points: package.json names each.
 */
export const workerEntry = (path: string) =>
  Bun.isStandaloneExecutable ? `./${path}.js` : new URL(`../${path}.ts`, import.meta.url).href
