import type { Problem } from '../edge/certificate-log.ts'

type Explained = {
  message: string
  hint: string
  /** The earliest time for another request, if the authority says so. */
  notBefore?: Date
}

/** Milliseconds that a rate limit lasts if the authority doesn't say. */
const limitTime = 3600_000

/** Characters of the authority's own text that are shown. */
const maxWords = 300

type About = {
  host: string
  authority: string
  expected: string[]
}

export function authorityName(directory: string | null) {
  const host = directory === null ? '' : new URL(directory).host
  return host === '' || host.endsWith('.letsencrypt.org') ? 'Let’s Encrypt' : host
}

export function explain({ type, detail }: Problem, about: About): Explained {
  const { host, authority } = about
  const words = cleaned(detail)
  switch (type) {
    case 'rateLimited':
      return {
        message: `${authority} doesn’t issue a certificate for ${host} for now, because its rate limit is reached: ${words}`,
        hint: 'Davit tries again when the limit ends. Trying earlier would prolong it.',
        notBefore: retryTime(detail) ?? new Date(Date.now() + limitTime),
      }
    case 'caa':
      return {
        message: `A CAA record in the DNS doesn’t allow ${authority} to issue a certificate for ${host}.`,
        hint: `Add ${authority} to the CAA records of the domain, or remove them. It said: ${words}`,
      }
    case 'dns':
      return explainDns(words, about)
    case 'connection':
      return explainConnection(words, about)
    case 'unauthorized':
    case 'incorrectResponse':
      return explainAnswer(words, about)
    case 'rejectedIdentifier':
      return {
        message: `${authority} doesn’t issue certificates for ${host}: ${words}`,
        hint: 'Use another name, upload your own certificate, or turn HTTPS off for this one.',
      }
    case 'externalAccountRequired':
    case 'userActionRequired':
    case 'invalidContact':
    case 'unsupportedContact':
      return {
        message: `${authority} refused Davit’s account: ${words}`,
        hint: 'Check DAVIT_ACME_EMAIL and DAVIT_ACME_URL.',
      }
    default:
      return type === null ? explainOther(words, about) : said(words, about)
  }
}

function explainDns(words: string, { host, authority }: About) {
  if (/CAA/.test(words))
    return {
      message: `${authority} couldn’t look up the CAA records of ${host}: ${words}`,
      hint: 'Check the domain at your DNS provider: its name servers must respond to CAA queries.',
    }
  const isMissing = /NXDOMAIN|no valid A/i.test(words)
  return {
    message: isMissing
      ? `${authority} found no address of ${host} in the DNS.`
      : `${authority} couldn’t look up ${host} in the DNS: ${words}`,
    hint: 'A new record can take some minutes to spread. Davit tries again.',
  }
}

function explainConnection(words: string, { host, authority, expected }: About) {
  const address = addressIn(words)
  const why = /timeout|timed out/i.test(words)
    ? 'the connection timed out'
    : /refused/i.test(words)
      ? 'the connection was refused'
      : /reset/i.test(words)
        ? 'the connection was reset'
        : words
  const isElsewhere = address !== null && expected.length > 0 && !expected.includes(address)
  return {
    message: `${authority} couldn’t connect to ${address ?? host} on port 80: ${why}.`,
    hint: isElsewhere
      ? `${address} isn’t this server: check the records of ${host} at your DNS provider.`
      : 'Port 80 must be open to the internet: check the firewall of the server and of its provider.',
  }
}

function explainAnswer(words: string, about: About) {
  const { host, authority, expected } = about
  const status = /(?:returned|:) (\d{3})\b/.exec(words)?.[1]
  if (!status && !/key authorization|Invalid response/i.test(words)) return said(words, about)
  const address = addressIn(words)
  const isHere = address !== null && expected.includes(address)
  return {
    message:
      `${authority} got ${status ?? 'an unexpected response'} from ${address ?? host}: ` +
      (isHere ? 'another program responds on port 80 here.' : 'the name points to another server.'),
    hint: isHere
      ? 'A proxy in front of Davit must pass on requests for /.well-known/acme-challenge/ unchanged.'
      : `Check the records of ${host} at your DNS provider, AAAA records too. A proxy in front must pass on /.well-known/acme-challenge/.`,
  }
}

/** For failures before the authority could say anything. */
function explainOther(words: string, about: About) {
  const { authority } = about
  const why = /(dial tcp|lookup|x509|tls|context deadline|i\/o timeout).*/.exec(words)?.[0]
  if (!why || !/performing request|provisioning client|fetching new nonce/.test(words))
    return said(words, about)
  return {
    message: `${authority} can’t be reached: ${why}`,
    hint: /x509/.test(why)
      ? 'Its own certificate isn’t trusted: set DAVIT_ACME_CA to a file with its root.'
      : 'This server must be able to connect to it: check its DNS, its firewall and DAVIT_ACME_URL.',
  }
}

const said = (words: string, { host, authority }: About) => ({
  message: `${authority} issued no certificate for ${host}: ${words || 'no reason given'}`,
  hint: 'Davit tries again. The log of Caddy’s container has the details.',
})

/** Let's Encrypt includes it in its message; Caddy doesn't pass on the header. */
function retryTime(detail: string): Date | null {
  const text = /retry after (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/i.exec(detail)
  const time = text ? new Date(`${text[1]}T${text[2]}Z`) : null
  return time && !Number.isNaN(time.getTime()) ? time : null
}

/** The message starts with the address that the authority connected to. */
const addressIn = (words: string) =>
  /^(?:During secondary validation: )?(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}): /i.exec(
    words,
  )?.[1] ?? null

/** Shortens external text to one line. */
function cleaned(text: string) {
  const plain = text
    .slice(0, 4 * maxWords)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  return plain.length > maxWords ? `${plain.slice(0, maxWords)}…` : plain
}
