/**
 * Whether a build argument steers the builder and not the Dockerfile. Builders leave proxies out of
 * the key of a layer, so that what came through the proxy of one user would be in the cache of all;
 * and what begins with BUILDKIT_ chooses the frontend and where caches are.
 */
export const steersBuilder = (name: string) => /_proxy$/i.test(name) || /^buildkit_/i.test(name)

export const steeringRefusal = (name: string) =>
  `The name ${name} can't be given to a build: names that end with _PROXY or begin with BUILDKIT_ change how all builds on this server work.`

/** The arguments without those that steer the builder, which may have been saved before that was checked. */
export function withoutSteering(args: Record<string, string>) {
  const entries = Object.entries(args)
  const left = entries.map(([name]) => name).filter(steersBuilder)
  return { args: Object.fromEntries(entries.filter(([name]) => !steersBuilder(name))), left }
}
