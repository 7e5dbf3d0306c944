import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pointTo, targetOf } from './links.ts'
import { davitKey, isShareKey, slotCount } from './plan.ts'

/**
 * Sets the addresses of a key: for each request Caddy picks a random slot. The slots of a key are a folder
 * behind a link, so that one rename changes all of them atomically. After a failure before it, such as a full
 * disk, the old ones remain. `named` are found by a host that isn't configured yet.
 */
export function setSlots(
  folder: string,
  key: string,
  addresses: [string, ...string[]],
  named: [string, ...string[]] = addresses,
) {
  const slots = slotsFolder(folder, key)
  const wanted = spread(addresses)
  const name = nameOf(spread(named))
  const holds = (folder: string | null) =>
    folder !== null &&
    existsSync(join(slots, folder, name)) &&
    Bun.deepEquals(readFolder(join(slots, folder)), wanted)
  const current = targetOf(join(slots, key))
  if (holds(current)) return
  const known = foldersOf(slots, key)
  // what takes a change back, in a hurry, finds them written
  const next = known.find(holds) ?? writeFolder(slots, key, { known, wanted, name })
  pointTo(join(slots, key), next, join(slots, `.${key}.link`))
  // the previous folder stays until the next change: a request may be reading it
  removeFolders(slots, known, [next, current])
}

function writeFolder(
  slots: string,
  key: string,
  { known, wanted, name }: { known: string[]; wanted: string[]; name: string },
) {
  const next = `.${key}.${Math.max(-1, ...known.map((one) => Number(one.split('.').at(-1)))) + 1}`
  mkdirSync(join(slots, next), { recursive: true, mode: 0o700 })
  chmodSync(join(slots, next), 0o755)
  for (const [slot, address] of [...wanted.entries(), [name, ''] as const]) {
    const path = join(slots, next, String(slot))
    writeFileSync(path, address)
    chmodSync(path, 0o644)
  }
  return next
}

const spread = (addresses: [string, ...string[]]) =>
  Array.from({ length: slotCount }, (_, slot) => addresses[slot % addresses.length]!)

/** As many IPv4 addresses fit into a file name. */
export const namedCount = 10

/** Lists them in a file name, by which Caddy finds those of a host that isn't configured yet. */
function nameOf(wanted: string[]) {
  const page = /\/(\w+)\.sock$/.exec(wanted[0]!)?.[1]
  return page ? `@page.${page}` : `@${wanted.slice(0, namedCount).join(',')}`
}

/** Null when the key has none. */
export function readSlots(folder: string, key: string): string[] | null {
  const slots = slotsFolder(folder, key)
  const current = targetOf(join(slots, key))
  return current === null ? null : readFolder(join(slots, current))
}

export function forgetSlots(folder: string, key: string) {
  const slots = slotsFolder(folder, key)
  rmSync(join(slots, key), { force: true })
  removeFolders(slots, foldersOf(slots, key), [])
}

/** Removes the slots of all other keys, except built-in ones. */
export function keepSlots(folder: string, keys: ReadonlySet<string>) {
  const slots = join(folder, 'slots')
  if (!existsSync(slots)) return
  for (const name of readdirSync(slots)) {
    const key = name.startsWith('.') ? name.split('.')[1]! : name
    if (!keys.has(key) && key !== nobody && key !== davitKey && !isShareKey(key))
      rmSync(join(slots, name), { recursive: true, force: true })
  }
}

/** The key of slots with the page for unknown hosts. */
export const nobody = 'nobody'

/** Creates the folders that must exist when Caddy starts, which couldn't create them or would own them. */
export function makeFolder(folder: string) {
  for (const name of [
    'slots',
    'hosts',
    'pages',
    'places',
    'shares',
    'certificates',
    'redirects',
    'config/caddy',
    'log',
  ])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
}

function slotsFolder(folder: string, key: string) {
  if (!/^[\w-]+$/.test(key)) throw new Error(`“${key}” isn’t a key of slots.`)
  return join(folder, 'slots')
}

/** An unreadable folder, after a power failure, counts as empty. */
const readFolder = (path: string) =>
  Array.from({ length: slotCount }, (_, slot) => {
    try {
      return readFileSync(join(path, String(slot)), 'utf8')
    } catch {
      return ''
    }
  })

const foldersOf = (slots: string, key: string) =>
  existsSync(slots)
    ? readdirSync(slots).filter((name) => name.startsWith(`.${key}.`) && !name.endsWith('.link'))
    : []

function removeFolders(slots: string, folders: string[], kept: (string | null)[]) {
  for (const name of folders)
    if (!kept.includes(name)) rmSync(join(slots, name), { recursive: true, force: true })
}
