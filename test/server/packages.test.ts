import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackages, packagesFor } from '../../src/server/packages.ts'
import type { Need } from '../../src/server/packages.ts'

const needs: Need[] = ['engine', 'git', 'ssh']
const path = process.env.PATH
let folder: string
let log: string
let said: string[]
const work = () => ({
  signal: new AbortController().signal,
  say: (line: string) => void said.push(line),
})

/** Stands for a distribution's: writes down what it is asked for. */
function program(name: string, script = '') {
  const text = `#!/bin/sh\necho "${name} $@" >> ${log}\n${script}\n`
  writeFileSync(join(folder, name), text, { mode: 0o755 })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'davit-packages-'))
  log = join(folder, 'log')
  said = []
  process.env.PATH = `${folder}:${path}`
  for (const name of ['apt-get', 'dnf', 'dpkg']) program(name)
})
afterEach(() => {
  process.env.PATH = path
  rmSync(folder, { recursive: true })
})

const asked = () => readFileSync(log, 'utf8').trim().split('\n')

test('Debian and Ubuntu are asked for their packages, once what was interrupted is finished', async () => {
  await installPackages('apt-get', packagesFor('apt-get', needs), work())
  const options = '--yes -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2'
  expect(asked()).toEqual([
    'dpkg --configure --pending',
    `apt-get ${options} update`,
    `apt-get ${options} install docker.io git openssh-client`,
  ])
})

test('Fedora is asked for its own', async () => {
  await installPackages('dnf', packagesFor('dnf', needs), work())
  expect(asked()).toEqual(['dnf --assumeyes install moby-engine git openssh-clients'])
})

test('what a package manager says when it fails is shown, with another way', async () => {
  program('dnf', 'echo loading; echo "Error: Unable to find a match: moby-engine"; exit 1')
  await expect(installPackages('dnf', ['moby-engine'], work())).rejects.toMatchObject({
    message: 'dnf --assumeyes failed: Error: Unable to find a match: moby-engine',
    hint: expect.stringContaining('https://docs.docker.com/engine/install'),
  })
  expect(said).toContain('    loading')
})

test('what it says of lists that can’t be read is shown as well', async () => {
  program('apt-get', 'echo "Err:1 http://deb.example"; echo "E: Could not resolve it"; exit 100')
  await expect(installPackages('apt-get', ['git'], work())).rejects.toMatchObject({
    message: 'apt-get --yes failed: E: Could not resolve it',
    hint: expect.stringContaining('Read the lines above'),
  })
  expect(said).toEqual(['    Err:1 http://deb.example', '    E: Could not resolve it'])
})
