import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { randomToken, sameSecret } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues, hostCookie, isHttps } from './cookies.ts'
import type { Env } from './factory.ts'

export type VisitorDeps = { secrets: Secrets; config: Pick<Config, 'url'> }

const cookieName = 'svc_visitor'

/**
 * The random id of this browser before a login, created on first use. There may be several if someone
 * injected cookies; over HTTPS no one can.
 */
export function visitorsOf(c: Context, { config }: VisitorDeps): string[] {
  const name = hostCookie(cookieName, { isSecure: isHttps(c, config) })
  const { visitor } = (c as Context<Env>).var
  const held = visitor ? [visitor] : cookieValues(c, name).filter(isToken)
  if (held.length > 0) return held
  const made = randomToken()
  c.set('visitor', made)
  setCookie(c, name, made, { ...cookieOptions(c, config), httpOnly: true })
  return [made]
}

const isToken = (text: string) => /^[\w-]{43}$/.test(text)

type Bound = { name: string; value: string; path?: string; maxAge: number }

/** Sets a cookie that is only valid in this browser: signed with the visitor's id. `maxAge` in seconds. */
export function setBoundCookie(c: Context, deps: VisitorDeps, { name, value, ...options }: Bound) {
  const [visitor] = visitorsOf(c, deps)
  const text = `${signature(deps, { name, value, visitor: visitor! })}.${value}`
  setCookie(c, name, text, { ...cookieOptions(c, deps.config), httpOnly: true, ...options })
}

/** Returns the value of such a cookie, and deletes it; an injected one is ignored. */
export function takeBoundCookie(
  c: Context,
  deps: VisitorDeps,
  { name, path = '/' }: { name: string; path?: string },
): string | null {
  const value = readBoundCookie(c, deps, name)
  if (cookieValues(c, name).length > 0) deleteCookie(c, name, { path })
  return value
}

/** Null when this browser has no such cookie, or only an injected one. */
export function readBoundCookie(c: Context, deps: VisitorDeps, name: string): string | null {
  const held = cookieValues(c, name)
  if (held.length === 0) return null
  const visitors = visitorsOf(c, deps)
  return held.map(split).find(isOurs)?.value ?? null

  function isOurs({ mac, value }: ReturnType<typeof split>) {
    return visitors.some((visitor) => sameSecret(mac, signature(deps, { name, value, visitor })))
  }
}

function split(text: string) {
  const at = text.indexOf('.')
  return { mac: text.slice(0, at), value: text.slice(at + 1) }
}

const signature = (
  { secrets }: VisitorDeps,
  { name, value, visitor }: { name: string; value: string; visitor: string },
) => secrets.sign(`cookie ${name} ${visitor} ${value}`)
