import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentChanged } from '../../src/platform/minisign.ts'
import { notExecutable } from '../../src/releases/elf.ts'
import { stage } from '../../src/server/upgrade/candidate.ts'
import { sourceOf } from '../../src/server/upgrade/source.ts'
import { newSecretKey } from '../release/keys.ts'
import { readSigningKey, signatureOf } from '../release/sign.ts'

describe('a file to upgrade to', () => {
  const signal = new AbortController().signal
  let root: string
  let draft: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'davit-upgrade-'))
    draft = join(root, 'davit.new')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const sumOf = (path: string) =>
    new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex')
  /** This Bun stands for a release: it is an executable for this machine, but no Davit. */
  const self = process.execPath
  const staged = async (path: string, { sha256 = null, publicKey = null }: Trust = {}) =>
    stage(
      await sourceOf(path, { allowHosts: [], signal }),
      draft,
      { sha256, publicKey },
      { signal, say: () => {} },
    )
  type Trust = { sha256?: string | null; publicKey?: string | null }
  const refused = async (path: string, why: string, trust?: Trust) => {
    await expect(staged(path, trust)).rejects.toThrow(why)
    expect(existsSync(draft)).toBe(false)
  }
  const inRoot = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(root, name), content)
    return join(root, name)
  }

  test('must be there, and not be a directory', async () => {
    await refused(join(root, 'none'), `There is no file ${join(root, 'none')}.`)
    await refused(root, 'There is no file')
  })

  test('must be for this machine, whole, and have a checksum', async () => {
    await refused(inRoot('script', '#!/bin/true\n'), notExecutable)
    await refused(inRoot('cut', readFileSync(self).subarray(0, -1)), 'was cut short')
    await refused(self, 'There is no SHA256SUMS beside')
    await refused(self, 'not 00', { sha256: '0'.repeat(64) })
  })

  test('must be listed in the checksums, whose signature must be good where a key is known', async () => {
    const name = inRoot('davit', readFileSync(self))
    const key = readSigningKey(newSecretKey())
    inRoot('SHA256SUMS', `${'0'.repeat(64)}  davit\n`)
    await refused(name, 'isn’t the one in SHA256SUMS')
    const sums = `${sumOf(self)}  davit\n`
    inRoot('SHA256SUMS', sums)
    await refused(name, 'isn’t signed', { publicKey: key.publicKey })
    inRoot('SHA256SUMS.minisig', signatureOf(Buffer.from('other'), key, 'davit 1.0.0'))
    await refused(name, contentChanged, { publicKey: key.publicKey })
    inRoot('SHA256SUMS.minisig', signatureOf(Buffer.from(sums), key, 'davit 1.0.0'))
    await refused(name, 'doesn’t say what it is', { publicKey: key.publicKey }) // it was started
  })

  test.each([
    'http://example.com/davit',
    'https://a:b@example.com/davit',
    'ftp://example.com/davit',
  ])('can’t be at %s', async (address) => {
    expect(staged(address)).rejects.toThrow('can’t be used')
  })
})
