import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { notExecutable, refuseOtherMachine } from '../../src/releases/elf.ts'
import { checkSignature, contentChanged } from '../../src/platform/minisign.ts'
import manifest from '../../package.json' with { type: 'json' }
import { must, targets } from './executables.ts'
import { newSecretKey } from './keys.ts'
import { readLockfile, repository } from './lockfile.ts'
import { releaseNotes } from './notes.ts'
import { billOfMaterials, shipped } from './sbom.ts'
import { readSigningKey, signatureOf } from './sign.ts'

describe('a signature', () => {
  const key = readSigningKey(newSecretKey())
  const content = Buffer.from('abc  davit-1.2.3-linux-x64\n')
  const signature = signatureOf(content, key, 'davit 1.2.3')
  const check = (changes: Partial<Record<'content' | 'signature' | 'publicKey', string>>) => () =>
    checkSignature(Buffer.from(changes.content ?? content), {
      ...{ name: 'SHA256SUMS', signature, publicKey: key.publicKey },
      ...changes,
    })

  test('is accepted as it was made', () => {
    expect(check({})).not.toThrow()
  })

  test('is refused when the content changed', () => {
    expect(check({ content: `${content}x` })).toThrow(contentChanged)
  })

  test('is refused when its comment changed', () => {
    const changed = signature.replace('davit 1.2.3', 'davit 9.9.9')
    expect(check({ signature: changed })).toThrow(contentChanged)
  })

  test('is refused under another key, also one that has the same id', () => {
    const other = readSigningKey(newSecretKey({ id: 'abcdefgh' }))
    const sameId = readSigningKey(newSecretKey())
    expect(check({ publicKey: other.publicKey })).toThrow('made with another key')
    expect(check({ publicKey: sameId.publicKey })).toThrow(contentChanged)
  })

  test.each(['', 'a\nb\nc\nd', signature.split('\n').slice(0, 2).join('\n'), 'x'.repeat(100_000)])(
    'is refused when it is damaged (%#)',
    (signature) => {
      expect(check({ signature })).toThrow('refused')
    },
  )

  test('can’t be made with a key that has a password, or that is none', () => {
    expect(() => readSigningKey(newSecretKey({ withPassword: true }))).toThrow('minisign -G -W')
    expect(() => readSigningKey('hello')).toThrow('isn’t a secret key')
  })
})

test('the bill of materials names each package once, with its hash, and what it depends on', async () => {
  const bill = await billOfMaterials({ version: '1.2.3', at: new Date(0) })
  const refs = bill.components.map((one) => one['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  const names = bill.components.map(({ name }) => name)
  for (const name of [...Object.keys(manifest.dependencies), 'bun', 'ssh2', ...shipped])
    expect(names).toContain(name)
  expect(names).not.toContain('bun-types')
  for (const { hashes, purl, licenses } of bill.components) {
    expect(hashes[0]!.content).toMatch(/^[0-9a-f]{128}$/)
    expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/)
    expect(licenses[0]!.license.name).not.toBeEmpty()
  }
  const known = [bill.metadata.component['bom-ref'], ...refs]
  expect(bill.dependencies.map(({ ref }) => ref).toSorted()).toEqual(known.toSorted())
  for (const { dependsOn } of bill.dependencies)
    expect(dependsOn.filter((ref) => !known.includes(ref))).toEqual([])
})

test('every package with files for the browser is in the bill of materials', async () => {
  const development = Object.keys(manifest.devDependencies)
  const files = readdirSync(join(repository, 'assets/vendor'))
  const names = files.map((name) => name.replace(/[-.].*$/, ''))
  const inAssets = development.filter((one) => names.some((name) => one.includes(name)))
  expect(inAssets.filter((one) => !shipped.includes(one))).toEqual([])
  expect(inAssets.length).toBeGreaterThan(3)
})

test('each executable is made on a Bun that the lockfile knows', async () => {
  const packages = await readLockfile()
  for (const name of Object.values(targets))
    expect(packages.get(name)).toMatchObject({
      version: manifest.devDependencies.bun,
      integrity: expect.stringMatching(/^sha512-/),
    })
})

test('notes have the commits since the last version, and say when the database changes', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'davit-notes-'))
  const git = (...args: string[]) =>
    must(['git', '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], cwd)
  const commit = async (subject: string, file = 'a') => {
    await Bun.write(join(cwd, file), subject)
    await git('add', '.')
    await git('commit', '--quiet', '--message', subject)
  }
  try {
    await git('init', '--quiet')
    await commit('Begin')
    expect(await releaseNotes('1.0.0', { cwd })).toContain('The first release.')
    await git('tag', 'v1.0.0')
    expect(await releaseNotes('1.0.0', { cwd })).toContain('The first release.')
    await commit('Show `names` in *bold*')
    const small = await releaseNotes('1.1.0', { cwd })
    expect(small).toContain('- Show \\`names\\` in \\*bold\\*\n')
    expect(small).not.toContain('Begin')
    expect(small).not.toContain('database')
    await commit('Add a table', 'drizzle/0001.sql')
    expect(await releaseNotes('1.1.0', { cwd })).toContain('The database changes')
  } finally {
    await rm(cwd, { recursive: true })
  }
})

test('the workflow of a forge runs the script that anyone can run', async () => {
  const workflow = await Bun.file(join(repository, '.github/workflows/release.yml')).text()
  const scripts = [...workflow.matchAll(/npm run (\w+)/g)].map(([, name]) => name!)
  expect(scripts).toEqual(['release'])
  expect(Object.keys(manifest.scripts)).toContain('release')
})

describe('a file for an upgrade', () => {
  const self = process.execPath
  const arch = process.arch
  let copy: string

  beforeAll(async () => {
    copy = join(await mkdtemp(join(tmpdir(), 'davit-elf-')), 'davit')
  })
  afterAll(() => rm(dirname(copy), { recursive: true }))

  const refusedAs = async (bytes: Uint8Array, why: string) => {
    await Bun.write(copy, bytes)
    expect(() => refuseOtherMachine(copy)).toThrow(why)
  }

  test('is accepted when this machine can start it', () => {
    expect(() => refuseOtherMachine(self)).not.toThrow()
  })

  test('is refused when it is no executable', async () => {
    await refusedAs(Buffer.from('#!/bin/sh\nexit 0\n'), notExecutable)
    await refusedAs(Buffer.alloc(0), notExecutable)
  })

  test('is refused when a byte at its end is missing, or most of it', async () => {
    const whole = await Bun.file(self).bytes()
    await refusedAs(whole.subarray(0, -1), 'was cut short')
    await refusedAs(whole.subarray(0, 64), 'was cut short')
    await refusedAs(whole.subarray(0, 63), notExecutable)
  })

  test('is refused when it is for another architecture, or another C library', () => {
    const other = arch === 'x64' ? 'arm64' : 'x64'
    expect(() => refuseOtherMachine(self, { arch: other })).toThrow(`this machine is ${other}`)
    expect(() => refuseOtherMachine(self, { root: '/nowhere' })).toThrow('needs glibc')
  })

  test('is refused in no time when its header lies', async () => {
    const lying = Buffer.from(await Bun.file(self).slice(0, 4096).bytes())
    lying.fill(0xff, 32, 64)
    await refusedAs(lying, 'was cut short')
  })
})
