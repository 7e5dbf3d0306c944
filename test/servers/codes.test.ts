import { expect, setSystemTime, test } from 'bun:test'
import { joinCheck } from '../../src/servers/join-check.ts'
import { listServers } from '../../src/servers/store.ts'
import type { TestClient } from '../support/client.ts'
import { twoMachines } from './machines.ts'

/** A code for a second machine, which then joins by it. */
async function aCode(body: object = {}, env: Record<string, string> = {}) {
  const s = twoMachines(env)
  const made = await s.root.post('/settings/servers', {
    ...{ name: 'two', address: '10.0.0.2', labels: { zone: 'east' }, roles: ['apps', 'edge'] },
    ...body,
  })
  const machine = s.t.logIn('machine@example.com') // its own login means nothing
  const { code } = made.json
  return { ...s, made, code, machine, ...calls(machine, code) }
}

const place = { address: '10.0.0.2', sshPort: 2222, hostKey: 'ssh-ed25519 AAAA' }

const calls = (machine: TestClient, code: string) => ({
  look: (more: object = {}) => machine.post('/auth/join/check', { code, ...more }),
  join: (more: object = {}) => machine.post('/auth/join', { code, ...place, ...more }),
})

const minutes = (count: number) => setSystemTime(Date.now() + count * 60_000)

test('without a login of ssh an admin gets a command with a code, which is stored hashed', async () => {
  const s = await aCode()
  const { code, command, name } = s.made.json
  expect([s.made.status, name]).toEqual([201, 'two'])
  expect(command).toMatch(/^davit join http:\/\/\S+ --insecure$/)
  expect(code).toMatch(/^(\w{4}-){3}\w{4}$/)
  const rows = JSON.stringify(s.t.db.$client.query('SELECT * FROM join_codes').all())
  for (const secret of [code, 'OPENSSH PRIVATE KEY']) expect(rows).not.toContain(secret)
  expect(listServers(s.t.db)).toEqual([])
  expect(s.own.calls).toEqual([])
  const { items } = (await s.root.get('/settings/audit')).json
  expect(items[0]).toMatchObject({ action: 'server.expected', details: { name: 'two' } })
  expect(JSON.stringify(items)).not.toContain(code)
})

test('the page shows command and code once, with a button that copies the code', async () => {
  const s = twoMachines()
  const form = (await s.root.page('/settings/servers/new')).text
  expect(form).toContain('<summary>Join it over ssh instead</summary>')
  const fields = { name: 'two', labels: '', roles: 'apps' }
  const shown = await s.root.form('/settings/servers', fields)
  expect(shown.text).toMatch(/<code>davit join \S+ --insecure<\/code>/)
  expect(shown.text).toMatch(/(\w{4}-){3}\w{4}/)
  expect(shown.text).toContain('data-copy')
  expect((await s.root.page('/settings/servers')).text).not.toContain('davit join')
})

test('a machine joins by the code, with what the admin chose, over ssh with a key of Davit’s own', async () => {
  const s = await aCode()
  const looked = await s.look()
  expect(looked).toMatchObject({ status: 200, json: { name: 'two', hasJoined: false } })
  expect(looked.json).toMatchObject({ cluster: '10.0.0.1', address: '10.0.0.2' })
  expect(looked.json.publicKey).toStartWith('ssh-ed25519 ')
  expect(joinCheck().parse(looked.json)).toEqual(looked.json)
  expect(looked.text).not.toContain('PRIVATE')
  expect(s.asked).toEqual([]) // looking changes nothing, and uses nothing up

  const joined = await s.join()
  expect(joined).toMatchObject({ status: 201, json: { name: 'two' } })
  expect(s.asked[0]).toMatchObject({ host: 'ssh://davit@10.0.0.2:2222' })
  const login = (s.asked[0] as { login: { privateKey: string; hostKey: string } }).login
  expect(login.privateKey).toStartWith('-----BEGIN OPENSSH PRIVATE KEY-----')
  expect(login.hostKey).toBe('AAAA')
  expect(listServers(s.t.db)[1]).toMatchObject({
    ...{ name: 'two', address: '10.0.0.2', labels: { zone: 'east' }, roles: ['apps', 'edge'] },
  })
  const { items } = (await s.root.get('/settings/audit')).json
  expect(items[0]).toMatchObject({ action: 'server.added', object: { name: 'two' } })
})

test('a code works once; only the server that joined by it is told that it has', async () => {
  const s = await aCode()
  await s.join()
  expect((await s.join()).status).toBe(409)
  expect((await s.look()).status).toBe(409)
  expect((await s.look({ nodeId: 'another' })).status).toBe(409)
  const again = await s.look({ nodeId: 'node 10.0.0.2' })
  expect(again).toMatchObject({ status: 200, json: { hasJoined: true } })
  expect(listServers(s.t.db)).toHaveLength(2)
})

test('a member gets no other key by another code', async () => {
  const s = await aCode()
  await s.join()
  const { code } = (await s.root.post('/settings/servers', { name: 'three' })).json
  const other = calls(s.machine, code)
  const again = await other.look({ nodeId: 'node 10.0.0.2' })
  expect(again.status).toBe(409)
  expect(again.text).not.toContain('ssh-ed25519')
  expect((await other.look()).status).toBe(200)
})

test('a code for an address is for no other', async () => {
  const s = await aCode({ address: '10.0.0.9' })
  const refused = await s.join()
  expect(refused).toMatchObject({ status: 422, json: { errors: [{ field: 'address' }] } })
  expect(s.asked).toEqual([])
})

test.each([`role = 'member'`, `disabled_at = 1`])(
  'a code ends with the rights of its admin: %s',
  async (change) => {
    const s = await aCode()
    s.t.db.$client.run(`UPDATE users SET ${change} WHERE email LIKE 'root%'`)
    expect([(await s.look()).status, (await s.join()).status]).toEqual([403, 403])
    expect(s.asked).toEqual([])
  },
)

test.each<[string, object]>([
  ['a command in an address', { cluster: '10.0.0.1; id' }],
  ['a second line of an address', { from: '10.0.0.1\nx' }],
  ['a second key', { publicKey: 'ssh-ed25519 AAAA davit\nssh-ed25519 BBBB davit' }],
  ['another end of a line', { publicKey: 'ssh-ed25519 AAAA davit\n' }],
  ['a name that moves the cursor', { name: 'two\u001b[2J' }],
])('a server refuses an answer with %s', async (_, difference) => {
  const s = await aCode()
  const answer = { ...(await s.look()).json, ...difference }
  expect(joinCheck().safeParse(answer).success).toBe(false)
})

test('two machines with one code: one joins', async () => {
  const s = await aCode()
  const answers = await Promise.all([s.join(), s.join()])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
})

test('a code is over after 15 minutes', async () => {
  const s = await aCode()
  try {
    minutes(14)
    expect((await s.look()).status).toBe(200)
    minutes(2)
    expect((await s.look()).status).toBe(403)
    expect((await s.join()).status).toBe(403)
  } finally {
    setSystemTime()
  }
  expect(s.asked).toEqual([])
})

test('guesses are limited, also those beside a right code', async () => {
  const s = await aCode()
  const guess = () => s.look({ code: 'AAAA-AAAA-AAAA-AAAA' })
  for (let n = 0; n < 5; n++) expect((await guess()).status).toBe(404)
  expect((await guess()).status).toBe(429)
  expect((await s.look()).status).toBe(429)
  expect((await s.join()).status).toBe(429)
})

test('a join that fails is undone, and its code works again', async () => {
  const s = await aCode()
  s.other.failing = 'join'
  expect((await s.join()).status).toBeGreaterThanOrEqual(500)
  expect(listServers(s.t.db)).toEqual([])
  s.other.failing = ''
  expect((await s.join()).status).toBe(201)
})

test('a code without an address is for where its server is, and no way to look elsewhere', async () => {
  const s = await aCode({ address: null }, { DAVIT_TRUSTED_PROXIES: '127.0.0.1' })
  const elsewhere = await s.join()
  expect(elsewhere).toMatchObject({ status: 422, json: { errors: [{ field: 'address' }] } })
  expect(s.asked).toEqual([])
  const there = { address: '192.0.2.1', sshPort: 22, word: 'a'.repeat(32) }
  expect((await s.look({ place: there })).json.reached).toEqual({ ssh: null, gossip: false })
  const joined = await s.machine.send('/auth/join', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '10.0.0.2' },
    body: JSON.stringify({ code: s.code, ...place }),
  })
  expect(joined.status).toBe(201)
})

test('a later code for a name replaces the one before', async () => {
  const s = await aCode()
  const { name, address } = { name: 'two', address: '10.0.0.2' }
  const { code } = (await s.root.post('/settings/servers', { name, address })).json
  expect((await s.join()).status).toBe(404)
  expect((await calls(s.machine, code).join()).status).toBe(201)
})

test('a code that no server has used is listed, and can be withdrawn', async () => {
  const s = await aCode()
  const path = `/settings/server-codes/${s.made.json.id}`
  const list = async () => (await s.root.page('/settings/servers')).text
  expect(await list()).toContain(`action="${path}"`)
  expect((await s.machine.delete(path)).status).toBe(403)
  expect((await s.root.delete(path)).status).toBe(200)
  expect(await list()).not.toContain(path)
  expect([(await s.look()).status, (await s.join()).status]).toEqual([404, 404])
  expect((await s.root.delete(path)).status).toBe(404)
  const { items } = (await s.root.get('/settings/audit')).json
  expect(items[0]).toMatchObject({ action: 'server.withdrawn', details: { name: 'two' } })
})

test('a code that was used can’t be withdrawn', async () => {
  const s = await aCode()
  await s.join()
  expect((await s.root.delete(`/settings/server-codes/${s.made.json.id}`)).status).toBe(404)
})

test('what can’t join is refused before there is a code', async () => {
  const s = twoMachines()
  const add = (body: Record<string, unknown>) => s.root.post('/settings/servers', body)
  expect((await add({ name: 'one' })).json.errors).toMatchObject([{ field: 'name' }])
  const same = await add({ name: 'two', address: '10.0.0.1' })
  expect(same.json.errors).toMatchObject([{ field: 'address' }])
  const quoted = await add({ name: 'two', labels: { zone: '"east"' } })
  expect(quoted.json.errors).toMatchObject([{ field: 'labels' }])
  const half = await add({ name: 'two', sshUser: 'davit' })
  expect(half.json.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual([
    ...['address', 'hostKey', 'sshKey'],
  ])
  const off = twoMachines({ address: '' })
  expect((await off.root.post('/settings/servers', { name: 'two' })).status).toBe(409)
})

test('a member can’t make one, and none joins without one', async () => {
  const s = twoMachines()
  const member = s.t.logIn('ada@example.com')
  expect((await member.post('/settings/servers', { name: 'two' })).status).toBe(403)
  expect((await member.post('/auth/join', place)).status).toBe(422)
})

test('an admin who is deleted leaves no code', async () => {
  const s = await aCode()
  s.t.db.$client.run('DELETE FROM users')
  expect((await s.join()).status).toBe(404)
})
