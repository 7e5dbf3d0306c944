import { Failure } from '../../platform/errors.ts'
import { ProviderError } from './provider-error.ts'

type Question = {
  title: string
  host: string
  /** The subject of the request, such as “the branches of ada/app”. */
  what: string
}

/** Explains a status other than 2xx. Of the body only names of scopes are used. */
export function refusalOf({ status, headers }: Response, body: string, question: Question) {
  const { title, host, what } = question
  const limited = status === 429 || (status === 403 && headers.get('X-RateLimit-Remaining') === '0')
  if (limited || (status === 403 && headers.has('Retry-After'))) return limitOf(headers, question)
  const error = (reason: ProviderError['reason'], message: string, needed: string[] = []) =>
    new ProviderError(reason, message, { status, needed })
  if (status === 401)
    return error(
      'token',
      `${title} refused the token: it is wrong, expired or revoked. Create a new one at ${host}.`,
    )
  if (status === 403) {
    const needed = neededRights(headers, body)
    const rights = needed.length > 0 ? ` It needs the scope ${needed.join(' or ')}.` : ''
    return error('rights', `The token may not see or change ${what}.${rights}`, needed)
  }
  if (status === 404 || status === 410)
    return error('missing', `${host} has no ${what}, or the token may not see it.`)
  if (status >= 500)
    return error('down', `${title} has an internal error (${status}). Try again later.`)
  return error('down', `${title} refused the request for ${what} (${status}).`)
}

/** Explains a request without a response. */
export function silenceOf(failure: Failure, { title, host }: Question): ProviderError {
  const options = { cause: failure }
  switch (failure.code) {
    case 'host_refused':
    case 'host_unresolved':
      return new ProviderError('host', failure.message, options)
    case 'redirected':
    case 'certificate_refused':
    case 'answer_too_large':
      return new ProviderError('stranger', `${failure.message} ${failure.hint}`, options)
    case 'host_timeout':
      return slow({ title, host }, failure)
    default:
      return new ProviderError('down', `${title} can’t be reached at ${host}. Try again.`, options)
  }
}

export const slow = ({ title, host }: Pick<Question, 'title' | 'host'>, cause?: unknown) =>
  new ProviderError('down', `${title} didn’t respond in time at ${host}. Try again.`, { cause })

export const notTheApi = 'doesn’t respond like the API of'

export const stranger = ({ title, host }: Pick<Question, 'title' | 'host'>, cause?: unknown) =>
  new ProviderError('stranger', `The server at ${host} ${notTheApi} ${title}.`, {
    cause,
  })

function limitOf(headers: Headers, { title }: Question): ProviderError {
  const seconds = secondsLeft(headers)
  if (seconds === null)
    return new ProviderError('limit', `${title}’s rate limit for this token is reached for now.`)
  const end = new Date(Date.now() + seconds * 1000).toISOString().slice(11, 16)
  const message = `${title}’s rate limit for this token is reached until ${end} UTC.`
  return new ProviderError('limit', message, { retryAfter: seconds })
}

/** Providers send a pause in seconds, or the time (in seconds since 1970) at which the limit resets. */
function secondsLeft(headers: Headers): number | null {
  const pause = Number(headers.get('Retry-After') ?? NaN)
  if (pause >= 0) return Math.min(pause, maxSeconds)
  const reset = Number(headers.get('X-RateLimit-Reset') ?? headers.get('RateLimit-Reset') ?? NaN)
  const left = Math.ceil(reset - Date.now() / 1000)
  return Number.isFinite(left) ? Math.min(Math.max(left, 1), maxSeconds) : null
}

const maxSeconds = 86_400

/** GitHub names the scopes in headers, GitLab in `scope`, Gitea within a sentence. */
function neededRights(headers: Headers, answer: string): string[] {
  const body = answer.slice(0, 10_000) // the server may not be a provider at all
  const told =
    headers.get('X-Accepted-GitHub-Permissions') ||
    headers.get('X-Accepted-OAuth-Scopes') ||
    /"scope"\s*:\s*"([^"]*)"/.exec(body)?.[1] ||
    /required scope[^[]*\[([^\]]*)\]/.exec(body)?.[1] ||
    ''
  const names = told
    .split(/[\s,;]+/)
    .filter((name) => /^[a-z_]{2,40}([:=][a-z_]{2,40})?$/.test(name))
  return [...new Set(names)].slice(0, 8)
}
