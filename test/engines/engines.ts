export type TestedEngine = { version: string; suite: string }

/** The versions of Docker that Davit is tested with, oldest first, and the Debian that has each. */
export const engines: TestedEngine[] = [
  { version: '20.10', suite: 'bookworm' },
  { version: '26.1', suite: 'trixie' },
  { version: '28.5', suite: 'sid' },
]

/**
 * What runs against each: what Davit asks of an engine, and what builds on its answers. The tests of
 * other folders either need no engine, or ask nothing of it that these don't; nor do browsers, or what
 * takes long.
 */
const engineTests = [
  '--path-ignore-patterns=**/*.long.test.ts',
  '--path-ignore-patterns=**/*browser.test.ts',
  'test/docker/', // each call
  'test/runtime/', // containers, networks and addresses of all that runs
  'test/deployments/', // builds, pulls, health, switches
  'test/containers/', // states, usage, output, terminals, clean-up
  'test/services/', // volumes, files, sidecars, imports
  'test/edge/', // published ports, Caddy
  'test/runs/', // attached output
  'test/links/', // networks between apps and services
  'test/logs/', // output read as it is written
]

/**
 * Of the arguments of a command. `ends` is the newest engine, and the oldest too where the machine's own
 * is another. Throws when an engine is named that there is none of.
 */
export function chooseTests(names: string[], own: string) {
  const options = names.filter((name) => name.startsWith('-'))
  const files = names.filter((name) => name.includes('/'))
  const chosen = names
    .filter((name) => ![...options, ...files].includes(name))
    .flatMap((name) => {
      if (name === 'ends') return [engines[0]!, engines.at(-1)!].filter((one) => !isOf(one, own))
      const engine = engines.find(({ version }) => version === name)
      if (engine) return [engine]
      const known = engines.map(({ version }) => version).join(', ')
      throw new Error(`There is no Docker ${name} to test with, only ${known}.`)
    })
  return {
    chosen: names.length > options.length + files.length ? chosen : engines,
    tests: [...options, ...(files.length > 0 ? files : engineTests)],
  }
}

/** Whether that is a version of this engine. */
export const isOf = ({ version }: TestedEngine, full: string) => full.startsWith(`${version}.`)
