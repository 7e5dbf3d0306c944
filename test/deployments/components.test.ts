import { expect, test } from 'bun:test'
import { choosePort } from '../../src/deployments/components.ts'
import { testApp } from '../support/app.ts'
import { aCommand, answerOf, aProject } from './apps.ts'
import { reaches } from './events.ts'

type Inspected = { HostConfig: Record<string, unknown> }

/** In the engine's own words: what Davit's reading of them leaves out is looked at too. */
async function inspect(container: string) {
  const unix = '/var/run/docker.sock'
  const answer = await fetch(`http://engine/containers/${container}/json`, { unix })
  return (await answer.json()) as Inspected
}

test('an app has its restart policy only once it is through the gate', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, aCommand('sleep 2; exec httpd -f -p 8080'))
  const deployment = await project.trigger()
  await reaches(ada, deployment, 'deploying')
  const policies = new Set<unknown>()
  for (;;) {
    const { status, containerId } = (
      await ada.get(`/projects/${project.id}/deployments/${deployment.id}`)
    ).json
    if (status === 'running') break
    expect(status).toBe('deploying')
    if (containerId) {
      const { Name } = (await inspect(containerId)).HostConfig.RestartPolicy as { Name: string }
      policies.add(Name)
    }
    await Bun.sleep(50)
  }
  expect([...policies].at(0)).toBe('no')
})

test('variables reach the app byte for byte, and PORT is where it is asked', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const values = {
    LINES: 'one\ntwo\n\nfour ',
    SHELL_WORDS: `$HOME \${PATH} \`id\` $(id) "double" 'single' \\ back\\slash; & | > #`,
    UNICODE: 'ü € 𝄞 \u202e عربى',
    EMPTY: '',
    EQUALS: 'a=b=c',
  }
  const script = 'mkdir /www; cp /proc/self/environ /www/env; exec httpd -f -p $PORT -h /www'
  const project = await aProject(t, ada, aCommand(script), { port: 5123 })
  for (const [key, value] of Object.entries(values))
    expect((await project.set({ key, value, secret: key === 'LINES' })).status).toBe(201)

  const deployment = await project.deploy()

  expect(deployment.status).toBe('running')
  const environ = await answerOf({ url: `${deployment.url}/env` })
  const seen = Object.fromEntries(
    environ
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  expect(seen).toMatchObject({ ...values, PORT: '5123' })
})

test('the port is the one of the environment, else of PORT, else of the first EXPOSE, else 3000', () => {
  const portFor = ({ port = null, PORT = '', exposed = [] }: Wish) =>
    choosePort(
      {
        environment: { port },
        variables: PORT ? [{ key: 'PORT', value: PORT }] : [],
      },
      { exposedPorts: exposed },
    )
  expect(portFor({ port: 5050, PORT: '6060', exposed: [9090] })).toBe(5050)
  expect(portFor({ port: 0, PORT: '6060', exposed: [9090] })).toBe(0)
  expect(portFor({ PORT: '6060', exposed: [9090, 70] })).toBe(6060)
  for (const odd of ['0', '70000', 'http', '80.5', '-1'])
    expect(portFor({ PORT: odd, exposed: [9090, 70] })).toBe(9090)
  expect(portFor({})).toBe(3000)
})

type Wish = { port?: number | null; PORT?: string; exposed?: number[] }
