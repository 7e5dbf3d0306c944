import { expect, test } from 'bun:test'
import { differenceOf, settled, undoLoad } from '../../../src/backups/recipes/index.ts'
import { imageOf } from '../../support/images/recipes.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { until } from '../../support/until.ts'
import { dumped, inspected, loaded, scene } from './scene.ts'

await ensureServiceImages({ say: console.error })

const { deps, failing, start } = scene()
const image = await imageOf('redis')

async function server(password = 'secret', ...more: string[]) {
  const command = ['redis-server', '--appendonly', 'yes', '--requirepass', password, ...more]
  const target = await start(image, { command, ready: ['sh', '-c', 'redis-cli ping | grep PONG'] })
  return { target, run: (...words: string[]) => target.run(['redis-cli', ...words]) }
}

test('all keys are in a dump, and in place of others in a server that keeps running', async () => {
  const from = await server()
  await from.run('eval', "for i = 1, 5000 do redis.call('SET', 'key' .. i, i) end", '0')
  await from.run('set', 'soon', 'gone', 'ex', '5000')
  await from.run('set', 'later', 'gone', 'ex', '5000')
  await from.run('-n', '3', 'rpush', 'list', 'a', 'b')
  await from.run('xadd', 'stream', '*', 'größe', '1')
  const kept = await dumped(deps, from.target)
  const [{ tables, file }] = kept.contents.databases as [(typeof kept.contents.databases)[number]]
  expect(tables).toEqual([{ name: 'keys', rows: 5004, fewest: 5002 }])
  expect(kept.files.get(file)!.toString('latin1', 0, 5)).toBe('REDIS')

  const to = await server('another')
  await to.run('set', 'of today', '1')
  await loaded(deps, to.target, kept)
  expect(differenceOf(kept.contents, await inspected(deps, to.target))).toBeNull()
  expect(await to.run('get', 'key77')).toBe('77')
  expect(await to.run('-n', '3', 'lrange', 'list', '0', '-1')).toBe('a\nb')
  expect(await to.run('exists', 'of today')).toBe('0')
  // it is a server of its own again, which keeps what it was given
  expect(await to.run('set', 'written', '1')).toBe('OK')
  await deps.docker.restartContainer(to.target.containerId)
  expect(await to.run('get', 'key5000')).toBe('5000')
  // keys that expire may be gone, others not
  await to.run('del', 'written', 'soon', 'later')
  expect(differenceOf(kept.contents, await inspected(deps, to.target))).toBeNull()
  await to.run('del', 'key1')
  expect(differenceOf(kept.contents, await inspected(deps, to.target))).toContain('keys')
}, 120_000)

test('what was loaded outlives the end of a server that still writes it to its append-only file', async () => {
  const from = await server()
  await from.run('mset', 'one', '1', 'two', '2', 'three', '3')
  const kept = await dumped(deps, from.target)
  const to = await server()
  await to.run('set', 'of today', '1')
  await to.run('config', 'set', 'rdb-key-save-delay', '1000000') // a second for each key
  await loaded(deps, to.target, kept)
  await settled(deps, { ...to.target, signal: new AbortController().signal })
  await deps.docker.stopContainer(to.target.containerId, { timeoutSeconds: 0 })
  await deps.docker.startContainer(to.target.containerId)
  await until(() =>
    to.run('ping').then(
      (answer) => answer === 'PONG',
      () => false,
    ),
  )
  expect(await to.run('mget', 'one', 'two', 'three')).toBe('1\n2\n3')
  expect(await to.run('exists', 'of today')).toBe('0')
}, 120_000)

test('a wrong password and a file that is cut or changed leave the server as it was', async () => {
  const from = await server()
  await from.run('eval', "for i = 1, 500 do redis.call('SET', 'key' .. i, i) end", '0')
  const source = { ...from.target.source, env: { ...from.target.source.env, REDISCLI_AUTH: 'old' } }
  expect(await failing(dumped(deps, { ...from.target, source }))).toBe('dump_login')
  const kept = await dumped(deps, from.target)
  const [[file, bytes]] = [...kept.files] as [[string, Buffer]]
  const changed = Buffer.from(bytes)
  changed[bytes.length >> 1]! ^= 1
  await from.run('set', 'of today', '1')
  for (const spoilt of [bytes.subarray(0, bytes.length * 0.9), changed, Buffer.from('garbage')]) {
    const files = new Map([[file, spoilt]])
    expect(await failing(loaded(deps, from.target, { ...kept, files }))).toBe('dump_failed')
  }
  expect(await from.run('get', 'of today')).toBe('1')
  expect(await from.run('set', 'written', '1')).toBe('OK')
}, 120_000)

test('a server that a killed load left waiting for another one takes writes again', async () => {
  const { target, run } = await server()
  await run('set', 'of today', '1')
  const { contents } = await dumped(deps, target)
  await run('replicaof', '127.0.0.1', '16379')
  expect(await run('set', 'written', '1')).toContain('READONLY')
  for (const _ of ['once', 'again']) {
    await undoLoad(deps, { ...target, contents, signal: new AbortController().signal })
    expect(await run('set', 'written', '1')).toBe('OK')
  }
  expect(await run('get', 'of today')).toBe('1')
}, 120_000)
