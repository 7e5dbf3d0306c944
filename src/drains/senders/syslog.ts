import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { Line } from '../../logs/log-line.tsx'
import { SendFailure } from '../../notifications/senders/sender.ts'
import type { SendDeps } from '../../notifications/senders/sender.ts'
import { firstReached, resolveHost } from '../../platform/hosts.ts'
import { hostField } from '../../web/address-fields.ts'
import { flagField, portField } from '../../web/labelled-fields.ts'
import { drainSender, severityOf, usual } from './sender.ts'
import type { Batch } from './sender.ts'

/** RFC 5424: the facility local0, and the severities of its table 2. */
const facility = 16
const severities = { error: 3, warn: 4, info: 6, debug: 7 }

/**
 * RFC 5424 over TCP (RFC 6587) or TLS (RFC 5425), each message with its length before it. Syslog has no receipt: a
 * connection for each batch, which the receiver closes after its end, is one.
 */
export const syslog = drainSender({
  label: 'Syslog',
  fields: (config) => ({
    host: hostField('Host', config),
    port: portField('6514'),
    tls: flagField('TLS', {
      initial: '1',
      hint: 'Without it everyone on the way can read the lines.',
    }),
  }),
  ...usual,
  async send(deps, { host, port, tls }, batch) {
    const { allowHosts: allow, lookup, signal } = deps
    const addresses = await resolveHost(host, { allow, signal, lookup })
    const bytes = Buffer.concat(batch.lines.map((line) => messageOf(line, batch)))
    await firstReached(addresses, { signal }, (address) =>
      write(deps, { host, address, port, tls: usesTls(tls) }, bytes),
    ).catch((error) => {
      throw signal.aborted ? signal.reason : explained(error, host)
    })
  },
})

/** Unless it is switched off: a drain whose TLS was never chosen has it. */
export const usesTls = (tls: boolean | null | undefined) => tls !== false

/** Milliseconds in which a receiver that went away is noticed: what is sent to it is taken by its system for a while. */
const lingerMs = 200

type Receiver = { host: string; address: string; port: number; tls: boolean }

/** Resolves when the receiver has read everything and closed the connection. */
function write({ signal, ca }: SendDeps, { host, address, port, tls }: Receiver, bytes: Buffer) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isEnding = false
  const servername = isIP(host) ? undefined : host
  const socket: Socket = tls
    ? connectTls({ host: address, port, ...(servername && { servername }), ...(ca && { ca }) })
    : connect({ host: address, port })
  const abort = () => socket.destroy(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  const end = async () => {
    await sleep(lingerMs)
    isEnding = true
    socket.end()
  }
  socket.once(tls ? 'secureConnect' : 'connect', () => socket.write(bytes, () => void end()))
  socket.once('error', reject)
  const ended = () =>
    isEnding ? resolve() : reject(new Error('It closed before it had all lines.'))
  socket.once('end', () => isEnding || ended())
  socket.once('close', ended)
  socket.resume() // otherwise no end is seen
  return promise.finally(() => {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  })
}

function messageOf(line: Line, { project, environment }: Batch) {
  const { process, replica, container, stream, time, text } = line
  const severity = severityOf(line, severities) ?? severities.info
  const fields = [
    `<${facility * 8 + severity}>1`,
    new Date(time).toISOString(),
    ascii(`${project.name}.${environment.name}`, 255),
    ascii(replica === null ? process : `${process}.${replica}`, 48),
    ascii(container, 128),
    stream,
    '-',
  ]
  const message = Buffer.from(`${fields.join(' ')} ${text}`)
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

/** A field has printable ASCII without spaces; one that is empty is `-`. */
const ascii = (text: string, most: number) =>
  text.replace(/[^\x21-\x7e]+/g, '-').slice(0, most) || '-'

function explained(error: unknown, host: string) {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (/CERT|VERIFY|SELF_SIGNED|ALTNAME|certificate/i.test(`${code} ${message}`))
    return new SendFailure(
      'certificate_refused',
      `Davit doesn’t trust the certificate of ${host} for this name.`,
      'Ask the operator to trust its issuer, for example with NODE_EXTRA_CA_CERTS.',
      { retry: false, cause: error },
    )
  return new SendFailure(
    'host_unreachable',
    `The host ${host} couldn’t be reached, or closed the connection early.`,
    'Davit tries again. If it keeps failing, check the host, the port and TLS.',
    { retry: true, cause: error },
  )
}
