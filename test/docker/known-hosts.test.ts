import { expect, test } from 'bun:test'
import { isKnownHost } from '../../src/docker/ssh.ts'

const key = Buffer.from('the key of the engine')
const base64 = key.toString('base64')
const at = (port: number) => ({ host: 'engine.test', port, key })

test('a key is known by the name and the port it was accepted for', () => {
  const knownHosts = `# mine\nother.test,engine.test ssh-ed25519 ${base64} a comment\n`
  expect(isKnownHost(knownHosts, at(22))).toBe(true)
  expect(isKnownHost(knownHosts, at(2222))).toBe(false)
  expect(isKnownHost(`[engine.test]:2222 ssh-ed25519 ${base64}`, at(2222))).toBe(true)
})

test('a name that is hashed is found too', () => {
  const salt = Buffer.from('01234567890123456789')
  const hash = new Bun.CryptoHasher('sha1', salt).update('engine.test').digest('base64')
  const knownHosts = `|1|${salt.toString('base64')}|${hash} ssh-ed25519 ${base64}`
  expect(isKnownHost(knownHosts, at(22))).toBe(true)
  expect(isKnownHost(knownHosts, { ...at(22), host: 'other.test' })).toBe(false)
})

test.each([
  ['nothing is known', ''],
  ['another key is known', `engine.test ssh-ed25519 ${Buffer.from('x').toString('base64')}`],
  ['another host has it', `other.test ssh-ed25519 ${base64}`],
  ['it was revoked', `engine.test ssh-rsa ${base64}\n@revoked engine.test ssh-rsa ${base64}`],
  ['it only signs others', `@cert-authority engine.test ssh-rsa ${base64}`],
])('a key is refused when %s', (_, knownHosts) => {
  expect(isKnownHost(knownHosts, at(22))).toBe(false)
})
