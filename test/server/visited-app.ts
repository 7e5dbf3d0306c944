import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import type { Deployment } from '../demo/deploy.ts'
import { repository } from '../release/lockfile.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'

/** An account on a server, and an app that it deploys there from files of the server. */
export async function deployedApp(machine: SystemdMachine) {
  const { must, shared, sharedInside } = machine
  await machine.loadImage('busybox:latest')
  await cp(join(repository, 'assets/sample'), join(shared, 'sample'), { recursive: true })
  await must(['cp', '-r', `${sharedInside}/sample`, '/srv/app'])
  const git = ['git', '-C', '/srv/app', '-c', 'user.name=A', '-c', 'user.email=a@example.com']
  await must([...git, 'init', '--quiet', '--initial-branch=main'])
  await must([...git, 'add', '.'])
  await must([...git, 'commit', '--quiet', '--message', 'Begin'])
  await must(['chown', '-R', 'davit', '/srv/app'])

  const setupCode = await must(['cat', '/var/lib/davit/data/setup-code'])
  const davit = clientOf(machine)
  await davit.enter('/auth/register', { ...account, setupCode })
  const { id } = await davit.post<{ id: string }>('/projects', {
    name: 'app',
    repositoryUrl: 'file:///srv/app',
  })
  return { id, davit, url: (await deployed(davit, id)).url }
}

const account = { email: 'ada@example.com', password: 'correct horse battery' }

const clientOf = ({ address }: SystemdMachine) =>
  new DavitClient({ url: `http://${address}:3000`, signal: AbortSignal.timeout(300_000) })

/** The same account again, where Davit was restarted or the server has another address. */
export async function loggedIn(machine: SystemdMachine) {
  const davit = clientOf(machine)
  await davit.enter('/auth/login', account)
  return davit
}

/** Deploys a project, and resolves when it runs. */
export async function deployed(davit: DavitClient, projectId: string) {
  const started = await davit.post<Deployment>(`/projects/${projectId}/deployments`)
  const path = `/projects/${projectId}/deployments/${started.id}`
  const deployment = () => davit.get<Deployment>(path)
  await until(async () => (await deployment()).status === 'running', 120)
  return deployment()
}

/** An app that Davit deploys on a server, which someone visits from then on without a break. */
export async function visitedApp(machine: SystemdMachine) {
  const { must } = machine
  const { url } = await deployedApp(machine)

  const containers = () =>
    must(['docker', 'ps', '--no-trunc', '--format', '{{.ID}} {{.CreatedAt}}'])
  const first = await containers()
  const failed: string[] = []
  let visits = 0
  let isOver = false
  const visiting = (async () => {
    for (; !isOver; visits++) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(String)
      if (typeof answer === 'string') failed.push(answer)
      else if (!answer.ok) failed.push(String(answer.status))
      if (typeof answer !== 'string') await answer.body?.cancel()
      await Bun.sleep(20)
    }
  })()
  return {
    stillRuns: async () => (await containers()) === first,
    async leave() {
      isOver = true
      await visiting
      return { failed, containers: first.split('\n').length, wasVisited: visits > 100 }
    },
  }
}
