import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An app that is built for real. Its files are in `apps/<name>`; its page says “Hello, world”. */
export type RealApp = {
  name: string
  /** Where the app is; the default is the top. */
  directory?: string
  /** What it is recognised as. */
  kind: string
  /** The images that its Dockerfile is based on. */
  images: string[]
  /** The file that has “Hello, world”, once. */
  page: string
  /** Where its page is; the default is /. */
  path?: string
  /** Paths that its image must not have, such as what only the build needs. */
  without: string[]
  /**
   * The file that the first of its images makes by this command, where packages are Debian's: it has their
   * versions, which change.
   */
  lock?: { file: string; command: string }
  /** In milliseconds, of a server that waits for connections that are kept; each has 10 s. */
  stopsIn?: number
  /** What a user sets, such as `{ spa: true }`. */
  settings?: Record<string, unknown>
}

const folder = join(import.meta.dir, 'apps')

/** The good Dockerfile of a person, to which ours is compared; no part of the app's repository. */
const byHand = 'Dockerfile.hand'

export function filesOf({ name }: RealApp): Record<string, string> {
  const directory = join(folder, name)
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .filter((path) => path !== byHand && !path.startsWith('node_modules/'))
  return Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]),
  )
}

export const dockerfileByHand = ({ name }: RealApp) =>
  readFileSync(join(folder, name, byHand), 'utf8')

/** A change of one line: the page greets another. */
export function greeting(app: RealApp, whom: string) {
  const text = filesOf(app)[app.page]
  if (text === undefined || text.split('Hello, world').length !== 2)
    throw new Error(`${app.name}: ${app.page} must have “Hello, world” once.`)
  return { [app.page]: text.replace('Hello, world', `Hello, ${whom}`) }
}
