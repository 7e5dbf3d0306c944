import type { Config } from '../config.ts'
import { isLoopback } from '../platform/hosts.ts'
import { randomCode, sameSecret } from '../platform/secrets.ts'

/** Null when only this machine can reach Davit. */
export const setupCodeFor = ({ host, url, domain }: Pick<Config, 'host' | 'url' | 'domain'>) =>
  isLoopback(host) && (url === null || isLoopback(url.hostname)) && domain === null
    ? null
    : randomCode()

/** Ignores case and separators. */
export const isSetupCode = (typed: string, code: string) =>
  sameSecret(lettersOf(typed), lettersOf(code))

const lettersOf = (text: string) => text.toUpperCase().replace(/[^A-Z2-7]/g, '')
