import type { Config } from '../config.ts'
import { isLoopback } from '../platform/hosts.ts'
import { randomCode, sameSecret } from '../platform/secrets.ts'

/** What registering the first account wants; null where only this machine itself can reach Davit. */
export const setupCodeFor = ({ host, url }: Pick<Config, 'host' | 'url'>) =>
  isLoopback(host) && (url === null || isLoopback(url.hostname)) ? null : randomCode()

/** Whether it is the code, however the groups of letters were typed. */
export const isSetupCode = (typed: string, code: string) =>
  sameSecret(lettersOf(typed), lettersOf(code))

const lettersOf = (text: string) => text.toUpperCase().replace(/[^A-Z2-7]/g, '')
