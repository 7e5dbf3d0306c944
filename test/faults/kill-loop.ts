import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { aCommand, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { answerOf } from './answer-of.ts'
import { faultsOf } from './left-behind.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

/** Davit is killed about two seconds after each of its starts, while one deployment is under way. */
export async function killLoop({
  rounds,
  ...launch
}: Launch & { rounds: number }): Promise<FaultReport> {
  const davit = anInstallation(launch)
  const repository = aRepository(davit.directory, anApp('first'))
  try {
    let { client } = await davit.start()
    const project = await client.post<{ id: string }>('/projects', {
      name: 'site',
      repositoryUrl: repository.url,
    })
    type Environment = { id: string }
    const { items } = await client.get<{ items: Environment[] }>(`/projects/${project.id}/envs`)
    await client.put(`/projects/${project.id}/envs/${items[0]!.id}`, { healthTimeout: 10 })
    const deploy = () => client.post<Deployment>(`/projects/${project.id}/deployments`)
    const first = await deploy()
    await watch(client, first).ended
    repository.commit(aCommand('sleep 999')) // it never answers, and fails where nothing kills Davit
    const second = await deploy()
    await watch(client, second).hears(waitingForResponse)
    for (let round = 0; round < rounds; round++) {
      await davit.kill()
      ;({ client } = await davit.start())
      await Bun.sleep(1500 + Math.random() * 1000)
    }
    await watch(client, second).ended

    type Ended = Deployment & { error: { code: string; step: string } | null }
    const { status, error } = await client.get<Ended>(pathOf(second))
    const { url } = await client.get<Deployment>(pathOf(first))
    const tries = davit
      .lines(second)
      .filter(({ text }) => text.startsWith(waitingForResponse)).length
    let left: string[] = []
    // the app before it has only been started, and images are removed after the deployment's end
    await comesTrue(30, async () => {
      const answer = await answerOf(url)
      const silent = answer === 'first' ? [] : [`the app before it answers “${answer}”`]
      left = [...silent, ...(await faultsOf(davit))]
      return left.length === 0
    })
    const faults = [
      ...(status === 'failed' ? [] : [`it ended as ${status}`]),
      ...(tries > 2 ? [`it was tried ${tries} times`] : []),
      ...left,
    ]
    return {
      what: 'Davit killed two seconds after each start, one deployment under way',
      unit: 'deployments that did not come to one end',
      rounds: 1,
      bad: Math.min(1, faults.length),
      figures: [`${rounds} kills, ${tries} tries, ${status}: ${error?.code}`, ...faults].join('; '),
    }
  } finally {
    await davit.leave()
  }
}
