import type { Config } from '../config.ts'

/** What all cookies of Davit have in common; Secure where the public address is HTTPS. */
export const cookieOptions = ({ url }: Pick<Config, 'url'>) =>
  ({ path: '/', sameSite: 'Lax', secure: url?.protocol === 'https:' }) as const
