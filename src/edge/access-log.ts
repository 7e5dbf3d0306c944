import type { Plan } from './plan.ts'

/** Caddy's access logs, in the folder that it shares with Davit. */
export const accessFolder = (folder: string) => `${folder}/log`

/** Caddy renames a full file with the time, such as `access-2026….log`. */
export const accessFile = (folder: string) => `${accessFolder(folder)}/access.log`

/** MiB per file, and number of full ones that Caddy keeps: Davit removes those it has read. */
const files = { size: 16, kept: 4 }

const remove = { filter: 'delete' }

/**
 * Of the requests of one second Caddy writes so many lines, and after those one for each so many: a prime, as
 * lines of shares come in turn with others. It counts failed requests (5xx) apart from the others.
 */
const sampling = { first: 1000, thereafter: 11 }

/**
 * Caddy's logs: lines in a file for requests to a logged server. That never blocks a request, and Davit
 * reads the lines later even if it was down. Headers, queries and user names are excluded, as are requests
 * from Caddy's own log: they may contain secrets.
 */
export const loggingOf = (plan: Pick<Plan, 'folder' | 'home'>) => ({
  logs: {
    default: {
      // all of it: each request would be encoded for this log too, whether or not it has a line here
      exclude: ['http'],
    },
    // one for all: each log encodes each request, also one that it writes no line for
    access: accessLog(plan),
  },
})

/** Davit reads that of another server as the output of its container. */
const writerOf = ({ folder, home }: Pick<Plan, 'folder' | 'home'>) =>
  home
    ? { output: 'stdout' }
    : {
        output: 'file',
        filename: accessFile(folder),
        // Caddy is root in a container, while Davit may be another user; no one else can enter the folder
        mode: '0644',
        roll_size_mb: files.size,
        roll_keep: files.kept,
        roll_gzip: false,
      }

const accessLog = (plan: Pick<Plan, 'folder' | 'home'>) => ({
  include: ['http.log.access'],
  sampling: { interval: 1e9, ...sampling },
  writer: writerOf(plan),
  encoder: {
    format: 'filter',
    wrap: { format: 'json', message_key: '', level_key: 'level', name_key: '' },
    fields: {
      'request>headers': remove,
      'request>remote_ip': remove,
      'request>remote_port': remove,
      'request>proto': remove,
      'request>tls': remove,
      // the address for image registries has a secret
      'request>uri': {
        filter: 'regexp',
        regexp: '(/hooks/registry/).*|\\?.*',
        value: '${1}?',
      },
      resp_headers: remove,
      user_id: remove,
    },
  },
})

/** The `logs` of a server whose requests are logged. */
export const logged = {}

/** Puts the key that served a request into its line, where that isn't the host. */
export const keyInLog = (value: string) => ({ handler: 'log_append', key: 'davit', value })

/** Finds how many requests a line stands for: it counts them as Caddy does, in the order of the log. */
export class Samples {
  readonly #counts = { info: { since: 0, lines: 0 }, error: { since: 0, lines: 0 } }

  /** The time in seconds, with all its digits. */
  requestsOf(level: Level, time: number) {
    const count = this.#counts[level]
    // lines may change places, while the clock is put back by more
    if (time >= count.since + 1 || time < count.since - 1) {
      count.since = time
      count.lines = 0
    }
    return ++count.lines > sampling.first ? sampling.thereafter : 1
  }
}

/** As Caddy has it in a line: an error is a response of 500 and more. */
type Level = 'info' | 'error'

/** A finished request, or one of several. */
export type AccessLine = {
  requests: number
  /** When it ended, in milliseconds since 1970. */
  time: number
  /** The key that served it: a host, a host with a path prefix, or a port. */
  key: string
  client: string
  method: string
  host: string
  /** A question mark at the end stands for a query. */
  path: string
  /** 0 when it was aborted before there was a response. */
  status: number
  /** Bytes of the bodies. */
  received: number
  sent: number
  /** Seconds from its first byte to the end of the response. */
  seconds: number
  /** True when it had an X-Forwarded-For of an untrusted sender. */
  isForwarded: boolean
  /** Set in a second line of a request that a share was part of: the version that served it. */
  share: { slot: number; version: 'new' | 'before' } | null
}

/** Null for an invalid line, such as a truncated one. */
export function readAccessLine(text: string, samples = new Samples()): AccessLine | null {
  try {
    const { ts, request, bytes_read, duration, size, status, level, davit, forwarded } =
      JSON.parse(text)
    const { client_ip, method, host, uri } = request
    const strings = [client_ip, method, host, uri]
    const numbers = [ts, bytes_read, duration, size, status]
    if (!strings.every(isString) || !numbers.every(Number.isFinite)) return null
    if (level !== 'info' && level !== 'error') return null
    return {
      requests: samples.requestsOf(level, ts),
      time: Math.round(ts * 1000),
      key: keyIn(davit || nameIn(host)),
      client: client_ip,
      method,
      host,
      path: uri,
      status,
      received: bytes_read,
      sent: size,
      seconds: duration,
      isForwarded: forwarded === 'true',
      share: shareIn(davit),
    }
  } catch {
    return null
  }
}

/** No host has this character, and none is the log's own field. */
function shareIn(davit: unknown): AccessLine['share'] {
  const found = /^#(\d+)\.(new|before)$/.exec(isString(davit) ? davit : '')
  return found && { slot: Number(found[1]), version: found[2] as 'new' | 'before' }
}

const isString = (value: unknown): value is string => typeof value === 'string'

/** A port starts with a colon. Digits without one are a host sent by a visitor. */
const keyIn = (key: string) => (/^:\d+$/.test(key) ? key.slice(1) : /^\d+$/.test(key) ? '' : key)

/** The host as configured: a request that ended before its site was found has no other key. */
const nameIn = (host: string) => host.toLowerCase().replace(/:.*$/s, '').replace(/\.$/, '')
