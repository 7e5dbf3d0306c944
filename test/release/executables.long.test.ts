import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readElf } from '../../src/releases/elf.ts'
import { checkSignature } from '../../src/platform/minisign.ts'
import manifest from '../../package.json' with { type: 'json' }
import { ensurePackages } from '../support/machine.ts'
import { run } from '../support/machine/command.ts'
import { executableName, must } from './executables.ts'
import type { Target } from './executables.ts'
import { newSecretKey } from './keys.ts'
import { makeRelease } from './make.ts'
import { readSigningKey } from './sign.ts'

let directory: string
const { version } = manifest
const key = readSigningKey(newSecretKey())
const file = (target: Target) => join(directory, executableName(version, target))

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'davit-release-'))
  await makeRelease({ directory, version, key, say: () => {} })
}, 600_000)

afterAll(() => rm(directory, { recursive: true }))

describe('a release', () => {
  test('has the checksums of all its files, and signs them', async () => {
    expect(await must(['sha256sum', '--check', 'SHA256SUMS'], directory)).not.toContain('FAILED')
    const sums = await Bun.file(join(directory, 'SHA256SUMS')).bytes()
    const signature = await Bun.file(join(directory, 'SHA256SUMS.minisig')).text()
    checkSignature(sums, { name: 'SHA256SUMS', signature, publicKey: key.publicKey })
    expect(Buffer.from(sums).toString().split('\n').filter(Boolean)).toHaveLength(8)
  })

  test('is signed so that minisign itself accepts it', async () => {
    await ensurePackages('minisign', { minisign: 'minisign' })
    const verify = ['minisign', '-V', '-P', key.publicKey, '-m', 'SHA256SUMS']
    const { exitCode, output } = await run(verify, { cwd: directory })
    expect(output).toContain(`Trusted comment: davit ${version}`)
    expect(exitCode).toBe(0)
  })

  test('can be signed with a key that minisign made', async () => {
    await ensurePackages('minisign', { minisign: 'minisign' })
    await must(['minisign', '-G', '-W', '-p', 'own.pub', '-s', 'own.key'], directory)
    const own = readSigningKey(await Bun.file(join(directory, 'own.key')).text())
    const published = await Bun.file(join(directory, 'own.pub')).text()
    expect(published.split('\n')[1]).toBe(own.publicKey)
  })
})

describe('the executable', () => {
  test.each([
    ['linux-x64', 'x64', '/lib64/ld-linux-x86-64.so.2'],
    ['linux-x64-musl', 'x64', '/lib/ld-musl-x86_64.so.1'],
    ['linux-arm64', 'arm64', '/lib/ld-linux-aarch64.so.1'],
    ['linux-arm64-musl', 'arm64', '/lib/ld-musl-aarch64.so.1'],
  ] as const)('for %s is one, whole and neither bare nor huge', async (target, arch, loader) => {
    const { size, mode } = await stat(file(target))
    expect(readElf(file(target))).toEqual({ arch, loader, size })
    expect(mode & 0o111).toBe(0o111)
    expect(size).toBeWithin(90 * 2 ** 20, 160 * 2 ** 20)
  })

  test('for a Mac has a signature that fits each of its pages, without which none starts', async () => {
    const bytes = Buffer.from(await Bun.file(file('darwin-arm64')).arrayBuffer())
    expect(bytes.toString('hex', 0, 8)).toBe('cffaedfe0c000001') // Mach-O of 64 bits, arm64
    const { flags, pages } = signatureIn(bytes)
    expect([flags & 0x2, pages.length > 20_000, pages.filter((fits) => !fits)]).toEqual([
      2,
      true,
      [],
    ])
  })

  test('starts on this machine', async () => {
    const target = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'
    expect(await must([file(target), '--version'])).toBe(`${version}\n`)
  })

  test('starts on a processor of 2008, of which the baseline is', async () => {
    const qemu = await emulator('x86_64')
    expect(await must([qemu, '-cpu', 'Nehalem', file('linux-x64'), '--version'])).toBe(
      `${version}\n`,
    )
  })

  test('for arm64 starts in an emulator', async () => {
    const qemu = await emulator('aarch64')
    const libraries = ['-L', '/usr/aarch64-linux-gnu']
    expect(await must([qemu, ...libraries, file('linux-arm64'), '--version'])).toBe(`${version}\n`)
  })
})

/** The flags of its code directory (2: signed by no one in particular), and for each page whether its hash fits. */
function signatureIn(bytes: Buffer) {
  let at = 32
  while (bytes.readUInt32LE(at) !== 0x1d) at += bytes.readUInt32LE(at + 4) // LC_CODE_SIGNATURE
  const signature = bytes.readUInt32LE(at + 8)
  const directory = signature + bytes.readUInt32BE(signature + 16)
  const word = (offset: number) => bytes.readUInt32BE(directory + offset)
  const [flags, hashes, count, limit] = [12, 16, 28, 32].map(word) as [
    number,
    number,
    number,
    number,
  ]
  const page = 1 << bytes[directory + 39]!
  const pages = Array.from({ length: count }, (_, index) => {
    const content = bytes.subarray(index * page, Math.min((index + 1) * page, limit))
    const hash = new Bun.CryptoHasher('sha256').update(content).digest()
    return hash.equals(bytes.subarray(directory + hashes + index * 32).subarray(0, 32))
  })
  return { flags, pages }
}

async function emulator(arch: string) {
  const name = `qemu-${arch}-static`
  await ensurePackages('an emulator', { [name]: 'qemu-user-static' }, ['libc6-arm64-cross'])
  return name
}
