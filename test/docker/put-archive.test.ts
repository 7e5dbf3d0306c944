import { expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, name, options } = sandbox()

/** What a shell line writes in a container that was given files before its start. */
async function told(line: string, files: Parameters<typeof docker.putArchive>[1]['files']) {
  const id = await docker.createContainer({ ...options(), command: ['sh', '-c', line] })
  await docker.putArchive(id, { path: '/', files })
  await docker.startContainer(id)
  await docker.waitForExit(id)
  return (await collect(docker.containerLogs(id))).flat().map(({ text }) => text)
}

test('files are there when the container starts, with their modes', async () => {
  const files = [
    { path: '/etc/app/conf.d/app.conf', content: 'größe = 1\n', mode: 0o640 },
    { path: 'run.sh', content: '#!/bin/sh\necho ran', mode: 0o755 },
    { path: 'bytes', content: new Uint8Array(1000), mode: 0o600 },
    { path: 'empty', content: '', mode: 0o444 },
  ]
  const line =
    'cat /etc/app/conf.d/app.conf; /run.sh; stat -c "%a %u %s" /etc/app/conf.d/* /bytes /empty'
  expect(await told(line, files)).toEqual(['größe = 1', 'ran', '640 0 12', '600 0 1000', '444 0 0'])
})

test('long names are whole, whatever their length', async () => {
  const paths = [99, 100, 101, 155, 240].map((length) =>
    `d/${'é'.repeat(length / 3)}/`.padEnd(length, 'x'),
  )
  const files = paths.map((path) => ({ path, content: path, mode: 0o644 }))
  const line = paths.map((path) => `cat /${path}; echo`).join(';')
  expect(await told(line, files)).toEqual(paths)
})

test('a directory is not replaced, and nothing is written where there is no container', async () => {
  const id = await docker.createContainer(options())
  const file = { path: 'etc', content: 'x', mode: 0o644 }
  const writing = docker.putArchive(id, { path: '/', files: [file] })
  expect(await writing.catch((error) => error)).toBeInstanceOf(EngineError)
  const missing = docker.putArchive(name(), { path: '/', files: [file] })
  expect(await missing.catch((error) => error.status)).toBe(404)
  const nowhere = docker.putArchive(id, { path: '/no/such', files: [file] })
  expect(await nowhere.catch((error) => error.status)).toBe(404)
})
