import { AppError } from '../../platform/errors.ts'

export type DangerKind =
  | 'privileged'
  | 'host_namespace'
  | 'host_path'
  | 'engine_socket'
  | 'nested_path'
  | 'device'
  | 'capability'
  | 'host_gateway'
  | 'unconfined'

/** Access to the host, which is refused unless an admin allowed exactly this. */
export type Danger = {
  /** Stored once it is allowed. If the file changes it, the key differs, and it must be allowed again. */
  key: string
  service: string
  kind: DangerKind
  value: string
  /** Explains the danger to the admin who decides. */
  message: string
}

const meanings: Record<DangerKind, (value: string) => string> = {
  privileged: () => 'runs with all privileges, which makes it root on this server',
  host_namespace: (value) => `shares the ${value} namespace of this server`,
  host_path: (value) => `reads and writes ${value} on this server`,
  engine_socket: (value) => `accesses Docker at ${value}, which makes it root on this server`,
  nested_path: (value) =>
    `mounts ${value}, which is inside a path that containers may write: with a link there they reach any path of this server, which makes them root on it`,
  device: (value) => `uses the device ${value} of this server`,
  capability: (value) => `has the capability ${value}`,
  host_gateway: (value) => `reaches this server as ${value}`,
  unconfined: (value) =>
    `runs without Docker’s ${value} profile, which protects the kernel of this server`,
}

export const danger = (service: string, kind: DangerKind, value: string): Danger => ({
  key: `${service} ${kind} ${value}`.trim(),
  service,
  kind,
  value,
  message: `${service} ${meanings[kind](value)}.`,
})

/** Explains a stored key to the admin who decides. */
export function meaningOf(key: string) {
  const [service = '', kind = '', ...value] = key.split(' ')
  return isKind(kind) ? danger(service, kind, value.join(' ')).message : key
}

const isKind = (text: string): text is DangerKind => Object.hasOwn(meanings, text)

export function refuseDangers(dangers: Danger[], allowed: readonly string[]) {
  const refused = dangers.filter(({ key }) => !allowed.includes(key))
  if (refused.length === 0) return
  const all = refused.map(({ message }) => message).join(' ')
  throw new AppError('forbidden', `${all} Remove it from the file, or ask an admin to allow it.`)
}

/** The socket of an engine under any of its names. */
export const isEngineSocket = (path: string) =>
  /(^|\/)(docker|containerd|podman|crio|buildkitd)\.sock$/.test(path)

/**
 * Docker's defaults, and one that databases use. Every other one is a way out of the container or, like
 * SYS_NICE, could block the rest of the host.
 */
export const harmlessCapabilities = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'IPC_LOCK',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]
