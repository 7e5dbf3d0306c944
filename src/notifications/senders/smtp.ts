import { createTransport } from 'nodemailer'
import { isIP } from 'node:net'
import { firstReached, isAllowedHost, resolveHost } from '../../platform/hosts.ts'
import type { MailSettings } from './email.ts'
import { SendFailure } from './sender.ts'
import type { SendDeps } from './sender.ts'
import { cut, oneLine } from './text.ts'

export type Mail = {
  to: string[]
  messageId: string
  date: Date
  subject: string
  text: string
  html: string
}

/** In milliseconds, for a response of the server. */
const timeout = 15_000

type Sent = { response: string; accepted: unknown[]; rejectedErrors?: SmtpError[] }
type SmtpError = Error & {
  code?: string
  responseCode?: number
  response?: string
  recipient?: string
  rejectedErrors?: SmtpError[]
}

/**
 * Sends a mail to those the server accepts. Who is refused for now is left for another attempt, and who is refused
 * for good with them: so the last answer says it, too.
 */
export async function sendMail(deps: SendDeps, settings: MailSettings, mail: Mail) {
  const { allowHosts } = deps
  const { host } = settings
  if (settings.security === 'none' && !isAllowedHost(host, allowHosts))
    throw failure('unencrypted', `${host} isn’t in DAVIT_ALLOW_HOSTS.`, {
      hint: 'Without encryption, everyone on the way can read the mails. Choose STARTTLS or TLS.',
      retry: false,
    })
  const sent = await connectAndSend(deps, settings, mail)
  const refused = sent.rejectedErrors ?? []
  if (refused.some(({ responseCode }) => isTemporary(responseCode)))
    throw failure('postponed', `${host} didn’t accept the mail for ${reasons(refused)}.`, {
      hint: 'Davit tries again. The other recipients have it.',
      retry: true,
      left: refused.map(({ recipient }) => recipient!),
    })
  const others = refused.length > 0 ? `; refused for ${reasons(refused)}` : ''
  return { status: cut(oneLine(sent.response) + others, 1000) }
}

/** Connects to an address that was checked: another lookup could return a private one. */
async function connectAndSend(
  { allowHosts, signal, lookup, ca }: SendDeps,
  { host, port, security, trust, username, password, from }: MailSettings,
  { to, ...mail }: Mail,
): Promise<Sent> {
  const addresses = await resolveHost(host, { allow: allowHosts, signal, lookup })
  const send = async (address: string) => {
    const transport = createTransport({
      host: address,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: {
        ...(!isIP(host) && { servername: host }),
        rejectUnauthorized: trust !== 'any',
        ...(ca && { ca }),
      },
      ...(username && { auth: { user: username, pass: password ?? '' } }),
      name: from.split('@').at(-1)!,
      ...{ connectionTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      return (await transport.sendMail({
        ...mail,
        signal,
        from: { name: 'Davit', address: from },
        envelope: { from, to },
        headers: { To: 'undisclosed-recipients:;', 'Auto-Submitted': 'auto-generated' },
      })) as Sent
    } finally {
      transport.close()
    }
  }
  return firstReached(addresses, { signal }, send).catch((error) => {
    throw signal.aborted ? signal.reason : explained(error, host)
  })
}

/** RFC 5321: a reply of 4xx is about this attempt only. */
const isTemporary = (code: number | undefined) => code !== undefined && code >= 400 && code < 500

const said = ({ response, message }: SmtpError) =>
  cut(oneLine(response ?? message), 200).replace(/\.+$/, '')

/** Whom a server refused, and why. */
const reasons = (refused: SmtpError[]) =>
  cut(refused.map((error) => `${error.recipient}: ${said(error)}`).join('; '), 1000)

function explained(error: SmtpError, host: string) {
  const { code, responseCode, response, rejectedErrors, message } = error
  const retry = isTemporary(responseCode)
  const cause = error
  if (code === 'EAUTH' && !retry)
    return failure('refused', `${host} refused the login: ${said(error)}.`, {
      hint: 'Check the user and the password. Some providers need a password for apps.',
      ...{ retry, cause },
    })
  if (/certificate|self.signed|altname|CERT_|issuer/i.test(message))
    return failure('certificate_refused', `Davit doesn’t trust the certificate of ${host}.`, {
      hint: 'Check the host, ask the operator to trust its issuer (NODE_EXTRA_CA_CERTS), or accept any certificate.',
      ...{ retry: false, cause },
    })
  if (code === 'ETLS' || /STARTTLS|wrong version number/i.test(message))
    return failure('no_tls', `${host} doesn’t offer this kind of encryption on that port.`, {
      hint: 'STARTTLS is usual on port 587, TLS on port 465.',
      ...{ retry: false, cause },
    })
  const why = rejectedErrors ? ` for ${reasons(rejectedErrors)}` : `: ${said(error)}`
  if (response)
    return failure(retry ? 'postponed' : 'refused', `${host} refused the mail${why}.`, {
      hint: retry ? later : 'Check the addresses, and that you may send from this one.',
      ...{ retry, cause },
    })
  const [kind, what] =
    code === 'ETIMEDOUT'
      ? ['host_timeout', 'didn’t respond in time']
      : ['host_unreachable', 'couldn’t be reached, or the connection broke']
  return failure(kind!, `The mail server ${host} ${what}.`, { hint: later, retry: true, cause })
}

const later = 'Davit tries again. If it keeps failing, check the server and the port.'

const failure = (
  code: string,
  message: string,
  { hint, ...options }: { hint: string; retry: boolean; left?: string[]; cause?: unknown },
) => new SendFailure(code, message, hint, options)
