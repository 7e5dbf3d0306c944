import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyInLog, logged } from './access-log.ts'
import { pointTo, targetOf } from './links.ts'
import { shareKey, shareVersions, slotPlaceholders, slotsPath } from './plan.ts'
import type { Plan, ShareVersion } from './plan.ts'
import { toApp } from './proxy.ts'
import { readSlots, setSlots } from './slots.ts'

/*
 * A share of an app's requests goes to another version. Its slots then have the address of one of Caddy's own
 * servers, which draws a number from 0 to 99 for each request, or reads it in a cookie: those below the
 * percentage reach the new version. So other apps' requests aren't slower, and the begin and the end of a
 * share are changes of slots, without a new configuration.
 */

/** Shares that can be under way at a time: each has a socket. */
export const shareCount = 16

export type EdgeShare = {
  /** Its socket, from 0. */
  slot: number
  percent: number
  /** True to give visitors a cookie, so that they stay with a version. */
  isSticky: boolean
}

export const shareAddress = (folder: string, slot: number) => `unix/${folder}/shares/${slot}.sock`

/** The socket in a slot; null for another address. */
export function shareIn(address: string) {
  const found = /\/shares\/(\d+)\.sock$/.exec(address)
  return found ? Number(found[1]) : null
}

export type Addresses = [string, ...string[]]

/** Sends all requests of a key to these addresses, also those that a share of it has accepted. */
export function routeAll(folder: string, key: string, addresses: Addresses) {
  const slot = shareIn(readSlots(folder, key)?.[0] ?? '')
  setSlots(folder, key, addresses)
  if (slot !== null) setVersions(folder, slot, { new: addresses, before: addresses })
}

/** Sends a share of the requests of a key to the new version. */
export function routeShare(
  folder: string,
  key: string,
  {
    share,
    versions,
    folderInside,
  }: { share: EdgeShare; versions: Record<ShareVersion, Addresses>; folderInside: string },
) {
  setVersions(folder, share.slot, versions)
  setShare(folder, share)
  setSlots(folder, key, [shareAddress(folderInside, share.slot)], versions.before)
}

function setVersions(folder: string, slot: number, versions: Record<ShareVersion, Addresses>) {
  for (const version of shareVersions) setSlots(folder, shareKey(slot, version), versions[version])
}

/** Sets which of the numbers reach the new version, atomically. */
export function setShare(folder: string, { slot, percent, isSticky }: EdgeShare) {
  const shares = join(folder, 'shares')
  const name = `of-${percent}${isSticky ? '-sticky' : ''}` // the links are called by their slots alone
  const numbers = join(shares, name)
  mkdirSync(numbers, { recursive: true, mode: 0o700 })
  for (let number = 0; number < percent; number++)
    writeFileSync(join(numbers, String(number).padStart(2, '0')), '')
  if (isSticky) writeFileSync(join(numbers, stickyMark), '')
  const link = join(shares, String(slot))
  if (targetOf(link) !== name) pointTo(link, name, join(shares, '.link'))
}

const stickyMark = 'sticky'

/** The server of all shares. A request has been handled as any other before, so its headers are true. */
export function shareServer({ folder }: Plan, errors: object) {
  const all = Array.from({ length: shareCount }, (_, slot) => slot)
  const inFolder = (name: string) => ({
    file: { root: `${folder}/shares/{davit.share}`, try_files: [`/${name}`] },
  })
  const mappings = all.flatMap((slot) =>
    shareVersions.map((version) => ({
      input: `#${slot}.${version}`,
      outputs: slotPlaceholders.map(
        (_, at) => `{file.${slotsPath(folder, shareKey(slot, version))}/${at}}`,
      ),
    })),
  )
  return {
    automatic_https: { disable: true },
    protocols: ['h1', 'h2c'], // for apps that speak either
    listen: all.map((slot) => `${shareAddress(folder, slot)}|0600`),
    logs: logged,
    routes: [
      {
        handle: [
          keyInLog('{http.vars.davit}'),
          {
            handler: 'vars',
            client_ip: '{http.request.header.X-Forwarded-For}',
            scheme: '{http.request.header.X-Forwarded-Proto}',
            host: '{http.request.header.X-Forwarded-Host}',
            via: '{http.request.header.Via}',
          },
          mapOf('{http.request.local}', '{davit.share}', [['(\\d+)\\.sock$', '$1']]),
          mapOf(`{http.request.cookie.${shareCookie}}/{http.request.uuid}`, '{davit.number}', [
            ['^(\\d\\d)/', '$1'],
            ['^.*/[-a-f]*(\\d)[-a-f]*(\\d)', '$1$2'], // of hex digits those that are decimal, to be fair
          ]),
          { handler: 'vars', davit: '#{davit.share}.before' },
        ],
      },
      {
        match: [inFolder('{davit.number}')],
        handle: [{ handler: 'vars', davit: '#{davit.share}.new' }],
      },
      {
        match: [{ ...inFolder(stickyMark), not: [hasCookie] }],
        handle: [{ handler: 'headers', response: { add: { 'Set-Cookie': [cookie] } } }],
      },
      {
        handle: [
          { handler: 'map', source: '{http.vars.davit}', destinations: slotPlaceholders, mappings },
        ],
      },
      ...toApp(slotPlaceholders, {
        isTrusting: false,
        headers,
        kinds: [{ protocol: 'h2c', match: { protocol: 'http/2+' } }, { protocol: 'http' }],
      }),
    ],
    errors,
  }
}

/** Nothing shows that a request went through Caddy twice. */
const headers = {
  request: {
    set: {
      'X-Forwarded-For': ['{http.vars.client_ip}'],
      'X-Forwarded-Proto': ['{http.vars.scheme}'],
      'X-Forwarded-Host': ['{http.vars.host}'],
      Via: ['{http.vars.via}'],
    },
  },
  response: { delete: ['Via'] },
}

const mapOf = (source: string, destination: string, patterns: [string, string][]) => ({
  handler: 'map',
  source,
  destinations: [destination],
  mappings: patterns.map(([input_regexp, output]) => ({ input_regexp, outputs: [output] })),
})

/** Its value is only the number that was drawn. */
const shareCookie = 'davit_share'

const hasCookie = {
  header_regexp: { Cookie: { pattern: `(^|; *)${shareCookie}=\\d\\d(;|$)` } },
}

const cookie = `${shareCookie}={davit.number}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax`
