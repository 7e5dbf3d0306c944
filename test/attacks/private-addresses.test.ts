import { afterAll, expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'

let connections = 0
const listener = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      connections++
      socket.end('a secret that only this port tells')
    },
    data() {},
  },
})
const { port } = listener
afterAll(() => listener.stop(true))

/** Every way to write an address that only this machine or its network has. */
const hosts = [
  ...['127.0.0.1', 'localhost', 'LOCALHOST', 'x.localhost', '0', '127.1', '2130706433'],
  ...[
    '0x7f000001',
    '0177.0.0.1',
    '0x7f.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ],
  ...['127.0.0.1.', 'localhost.', '169.254.169.254', '10.0.0.1', '172.16.0.1', '172.31.255.254'],
  ...[
    '192.168.1.1',
    '100.64.0.1',
    '[fc00::1]',
    '[fe80::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ],
  ...['metadata.google.internal', '168.63.129.16', '０.0.0.0', '127。0。0。1', '①②⑦.0.0.1'],
]

/** What URL parsers and programs that connect read differently. */
const differential = [
  `http://ex.invalid\\@127.0.0.1:${port}/x.git`,
  `http://ex.invalid\\\\@127.0.0.1:${port}/x.git`,
  `http://127.0.0.1:${port}\\@ex.invalid/x.git`,
  `http://ex.invalid#@127.0.0.1:${port}/x.git`,
  `http://ex.invalid:80@127.0.0.1:${port}/x.git`,
  `http:\\\\127.0.0.1:${port}\\x.git`,
  `http:127.0.0.1:${port}/x.git`,
  `http:///127.0.0.1:${port}/x.git`,
  `http://127.0.0.1:${port}\t/x.git`,
  `http://127.0.0.1%2f@ex.invalid:${port}/x.git`,
  `//127.0.0.1:${port}/x.git`,
]

const addresses = [...hosts.map((host) => `http://${host}:${port}/x.git`), ...differential]

test('no route that takes an address connects to one of this machine or its network', async () => {
  const env = { DAVIT_ALLOW_HOSTS: '', DAVIT_ALLOW_LOCAL_REPOS: '0' }
  const { ada } = withAda(testApp(env, { jobsWait: true }))
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })

  const before = connections
  for (const address of addresses) {
    const encoded = encodeURIComponent(address)
    const baseUrl = address.replace('/x.git', '')
    const host = baseUrl.replace(/^https?:\/\//, '')
    const source = { provider: 'gitlab', name: 'x', baseUrl, accessToken: 'token' }
    const compose = `services: {a: {image: ${JSON.stringify(`${host}/app:1`)}}}`
    const answers = {
      'a new project': await ada.post('/projects', { name: 'x', repositoryUrl: address }),
      'a change of it': await ada.put(`/projects/${project.id}`, { repositoryUrl: address }),
      'a deployment': await ada.post(`/projects/${project.id}/deployments`, {
        repositoryUrl: address,
      }),
      branches: await ada.get(`/api/git/branches?repository_url=${encoded}`),
      'a look': await ada.get(`/api/git/look?repository_url=${encoded}`),
      'a git source': await ada.post('/settings/git', source),
      'a registry': await ada.post('/settings/registries', { host, username: 'a', password: 'b' }),
      'a channel': await ada.post('/settings/channels', {
        ...{ kind: 'webhook', name: 'x', url: baseUrl, events: ['unhealthy'] },
      }),
      'an image': await ada.post('/services/compose', { name: 'x', compose }),
    }
    for (const [route, { status, text }] of Object.entries(answers)) {
      expect(status, `${route} of ${address}: ${text}`).toBeOneOf([400, 422])
      expect(text, `${route} of ${address}`).not.toContain('a secret that only')
    }
  }
  expect(connections).toBe(before)
  const kept = await ada.get(`/projects/${project.id}`)
  expect(kept.json.repositoryUrl).toBe(repositoryUrl)
})

test('a refusal reveals nothing about what is there: an open port and a closed one read the same', async () => {
  const { ada } = withAda(testApp({ DAVIT_ALLOW_HOSTS: '' }))
  const told = async (port: number) => {
    const answer = await ada.post('/projects', {
      name: 'x',
      repositoryUrl: `http://127.0.0.1:${port}/x.git`,
    })
    const { requestId, ...rest } = answer.json
    return rest
  }
  expect(await told(port)).toEqual(await told(1))
})
