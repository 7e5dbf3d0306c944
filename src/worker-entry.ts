/**
 * Where the module of a worker is, by its name in `src`. In an executable it stands beside the main one,
 * as `bun build` places entry points: package.json names each.
 */
export const workerEntry = (name: string) =>
  Bun.isStandaloneExecutable ? `./${name}.js` : new URL(`./${name}.ts`, import.meta.url).href
