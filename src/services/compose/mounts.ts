import { posix } from 'node:path'
import type { ContainerFile } from '../../runtime/component.ts'
import type { Danger } from './dangers.ts'
import { danger, isEngineSocket } from './dangers.ts'
import { Field, quote } from './field.ts'
import type { Bind, Derived, Repository, Service, VolumeMount } from './model.ts'
import { bytesOf } from './units.ts'
import { anonymousVolume, directoryVolume } from './volume-names.ts'

type Mounts = Pick<Service, 'volumes' | 'binds' | 'files' | 'tmpfs'> & { dangers: Danger[] }
type MountOptions = {
  service: string
  declared: readonly string[]
  files: ReadonlyMap<string, string>
  foreign: boolean
  repository: Repository | null
}

/** Volume names in a file; on the engine they follow the instance's prefix. */
export const volumeName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/

/** Reads `volumes`: each becomes a named volume, files to write, or a bind, which is a danger. */
export function mountsOf(field: Field, given: MountOptions): Mounts {
  const mounts: Mounts = { volumes: [], binds: [], files: [], tmpfs: [], dangers: [] }
  const places = new Map<string, string>()
  for (const item of field.items()) {
    const mount = item.isMap ? longForm(item) : shortForm(item)
    const before = places.get(mount.path)
    if (before === JSON.stringify(mount)) continue
    if (before !== undefined) throw item.refuse(`has a second mount at ${mount.path}.`)
    places.set(mount.path, JSON.stringify(mount))
    place(item, mount, given, mounts)
  }
  return mounts
}

/** `./a/../b` and `b` are one file. */
export const normalPath = (path: string) => posix.normalize(path).replace(/^\.\//, '')

/** Without a mode, scripts are executable, and other files readable. */
export const fileAt = (path: string, content: string, mode?: Field): ContainerFile => ({
  path,
  content,
  mode: mode?.or(null, modeOf) ?? (content.startsWith('#!') ? 0o755 : 0o644),
})

/** Octal, such as `0444`, `0o444` or in quotes. */
function modeOf(field: Field) {
  const digits = field.matching(/^(0o?)?[0-7]{3,4}$/, 'a mode such as 0444').replace(/^0o/, '')
  if (typeof field.value === 'number') {
    // 0400 in decimal is 256, whose digits would give everyone more access than the owner.
    const [owner = 0, group = 0, others = 0] = [...digits.slice(-3)].map(Number)
    if ((group & ~owner) | (others & ~group))
      throw field.refuse(`is ${digits}, a decimal number. Write the mode in octal, such as 0444.`)
    field.note(`is read as the octal mode 0${digits}. Write it so: Compose takes it for a decimal.`)
  }
  return Number.parseInt(digits, 8)
}

/** Reads `/run:size=64m`. Only options that grant no further access are allowed. */
export function tmpfsOf(field: Field): { path: string; options: string } {
  const [path = '', options = ''] = field.text('a path').split(/:(.*)/s)
  const good = /^(size=\d+[kmg]?|mode=0?[0-7]{3,4}|uid=\d+|gid=\d+|rw|noexec|exec|nosuid|nodev)$/
  if (options && !options.split(',').every((option) => good.test(option)))
    throw field.refuse(
      `has the options ${quote(options)}. Only size, mode, uid and gid can be set.`,
    )
  for (const [, size] of options.matchAll(/size=([^,]*)/g))
    bytesOf(new Field(size, field.path, field.source))
  return { path: pathIn(field, path), options }
}

type Mount = { source: string; path: string; readOnly: boolean } & (
  | { kind: 'any' | 'volume' | 'bind' }
  | { kind: 'file'; content: string; mode: number }
  | { kind: 'tmpfs'; options: string }
)

function shortForm(field: Field): Mount {
  const parts = field.text('a volume such as data:/var/lib/app').split(':')
  if (parts.length === 1)
    return { kind: 'volume', source: '', path: pathIn(field, parts[0]!), readOnly: false }
  const [source = '', path = '', mode = 'rw', rest] = parts
  const modes = mode.split(',')
  if (rest !== undefined || !source || !modes.every((m) => ['rw', 'ro', 'z', 'Z'].includes(m)))
    throw field.refuse(`is ${quote(parts.join(':'))}, but must be name:/path or name:/path:ro.`)
  return { kind: 'any', source, path: pathIn(field, path), readOnly: modes.includes('ro') }
}

function longForm(field: Field): Mount {
  const ours = ['content', 'mode', 'is_directory', 'isDirectory']
  field.only(['type', 'source', 'target', 'read_only', 'bind', 'volume', 'tmpfs', ...ours])
  const type = field.get('type').or('volume', (t) => t.oneOf(['volume', 'bind', 'tmpfs'] as const))
  const source = field.get('source').or('', (s) => s.text())
  const path = pathIn(field.get('target'), field.get('target').text('a path in the container'))
  const readOnly = field.get('read_only').or(false, (r) => r.flag())
  field.get('bind').only(['create_host_path'])
  field.get('volume').only([])
  const tmpfs = field.get('tmpfs').only(['size', 'mode'])
  if (type === 'tmpfs') {
    const size = tmpfs.get('size').or('', (s) => `size=${bytesOf(s)}`)
    const mode = tmpfs.get('mode').or('', (m) => `mode=${modeOf(m).toString(8)}`)
    const options = [size, mode].filter(Boolean).join(',')
    return { kind: 'tmpfs', source, path, readOnly, options }
  }
  const content = field.get('content')
  if (!content.absent) {
    const file = fileAt(path, content.text(), field.get('mode'))
    return { kind: 'file', source, readOnly, ...file }
  }
  if (type === 'bind' && !source) throw field.refuse('must have a source.')
  return { kind: type, source, path, readOnly }
}

function place(field: Field, mount: Mount, given: MountOptions, mounts: Mounts) {
  const { source, path, readOnly } = mount
  if (mount.kind === 'tmpfs') mounts.tmpfs.push({ path, options: mount.options })
  else if (mount.kind === 'file')
    mounts.files.push({ path, content: mount.content, mode: mount.mode })
  else if (mount.kind === 'bind' || (mount.kind === 'any' && /^[./~]|\//.test(source)))
    bind(field, { source, path, readOnly }, given, mounts)
  else mounts.volumes.push(volume(field, { source, path, readOnly }, given))
}

function volume(field: Field, { source, path, readOnly }: Bind, given: MountOptions): VolumeMount {
  if (source === '') return derivedMount(anonymousVolume(given.service, path), { path, readOnly })
  if (!volumeName.test(source))
    throw field.refuse(`has the volume name ${quote(source)}. Use letters, digits, _ . and -.`)
  if (!given.foreign && !given.declared.includes(source))
    throw field.refuse(`uses the volume ${source}. Declare it under volumes at the top level.`)
  return { volume: source, path, readOnly }
}

const derivedMount = (derived: Derived, at: Pick<VolumeMount, 'path' | 'readOnly'>) => ({
  ...{ volume: derived.plain, derived },
  ...at,
})

function bind(field: Field, { source, path, readOnly }: Bind, given: MountOptions, mounts: Mounts) {
  const files = source.startsWith('~') ? [] : filesAt(given.files, source, path)
  mounts.files.push(...files)
  // On other platforms, a mounted directory has such files beside what the program writes.
  const isFile = files.some((file) => file.path === path)
  const isWhole = isFile || readOnly || !given.foreign
  const advice = `Use a named volume such as data:${path} for what the service writes`
  if (files.length > 0 && given.repository && !isFile && !readOnly)
    field.note(
      `is copied from the repository, and what is written there is lost when the service is recreated. ${advice}, or mount it read-only.`,
    )
  if (files.length > 0 && isWhole) return
  if (given.foreign && /^[.~]/.test(source)) {
    mounts.volumes.push(derivedMount(directoryVolume(source), { path, readOnly }))
    return
  }
  if (given.repository && source.startsWith('.'))
    throw field.refuse(`mounts ${quote(source)}, which isn’t in the repository. ${advice}.`)
  if (!source.startsWith('/'))
    throw field.refuse(
      `mounts ${quote(source)}, a path on the server. Use a named volume such as data:${path}, or ` +
        'put the file’s content under x-davit.files.',
    )
  const host = posix.normalize(source)
  mounts.binds.push({ source: host, path, readOnly })
  mounts.dangers.push(bindDanger(given.service, host))
}

export const bindDanger = (service: string, host: string) =>
  danger(service, isEngineSocket(host) ? 'engine_socket' : 'host_path', host)

/** Returns the mounted file, or all files of the mounted directory. */
function filesAt(files: ReadonlyMap<string, string>, source: string, target: string) {
  const wanted = normalPath(source)
  const below = wanted.endsWith('/') ? wanted : `${wanted}/`
  return [...files].flatMap(([path, content]) => {
    if (path === wanted) return [fileAt(target, content)]
    return path.startsWith(below)
      ? [fileAt(posix.join(target, path.slice(below.length)), content)]
      : []
  })
}

export function pathIn(field: Field, text: string) {
  const path = posix.normalize(text).replace(/(?<=.)\/$/, '')
  const dots = text.split('/').some((part) => part === '..' || part === '.')
  if (text.startsWith('/') && path !== '/' && !dots && text.length <= 1024) return path
  throw field.refuse(`has ${quote(text)} as a path in the container, which must be one like /data.`)
}
