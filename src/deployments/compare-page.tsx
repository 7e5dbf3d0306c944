import { environmentPath } from '../environments/paths.ts'
import { VariableChanges } from '../environments/variable-changes.tsx'
import type { Environment } from '../environments/store.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { EmptyState, PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Comparison } from './compare.ts'
import { SettingChanges, Versions } from './difference-view.tsx'
import { rollbackPath } from './rollback-dialog.tsx'
import { canRollBackTo } from './rollback.ts'
import type { Deployment } from './store.ts'

export const comparePath = (deployment: Parameters<typeof deploymentPath>[0]) =>
  `${deploymentPath(deployment)}/compare`

type Props = {
  project: Project
  environment: Environment
  target: Deployment
  comparison: Comparison
}

export const ComparePage = ({ project, environment, target, comparison }: Props) => {
  const canCompare = comparison.liveId !== null && !comparison.isLive
  return (
    <>
      <PageHead
        title={`Compare #${target.number} with the live deployment`}
        doc="deployments#roll-back"
        crumbs={[
          { href: `/projects/${project.id}`, name: project.name },
          { href: environmentPath(environment), name: environment.name },
          { href: deploymentPath(target), name: `Deployment #${target.number}` },
        ]}
      >
        {canCompare && canRollBackTo(target) && (
          <ButtonLink variant="outline" opens={rollbackPath(target)}>
            Roll back to #{target.number}…
          </ButtonLink>
        )}
      </PageHead>
      {canCompare ? (
        <Differences {...{ target, comparison }} />
      ) : (
        <EmptyState title={comparison.isLive ? 'This deployment is live' : 'Nothing is live yet'}>
          <p>
            {comparison.isLive
              ? 'Compare an earlier deployment with it from the list of deployments.'
              : 'There is nothing to compare with until a deployment of this environment has succeeded.'}
          </p>
          <ButtonLink variant="outline" href={`/projects/${project.id}/deployments`}>
            Show deployments
          </ButtonLink>
        </EmptyState>
      )}
    </>
  )
}

const Differences = ({ target, comparison }: Pick<Props, 'target' | 'comparison'>) => {
  const { image, variables, settings } = comparison
  const number = `#${target.number}`
  return (
    <div class="compare">
      <section class="card" aria-labelledby="versions-heading">
        <h2 id="versions-heading">Commits and image</h2>
        <Versions
          {...comparison}
          target={target}
          names={{ target: number, back: 'Only in the live one', forward: `Only in ${number}` }}
        >
          {imageWords(image)}
        </Versions>
      </section>
      <section class="card" aria-labelledby="variables-heading">
        <h2 id="variables-heading">Variables</h2>
        {variables ? <VariableChanges changes={variables} /> : <NotKept />}
      </section>
      <section class="card" aria-labelledby="settings-heading">
        <h2 id="settings-heading">Settings</h2>
        {!settings && <NotKept />}
        {settings?.length === 0 && <p class="hint">Nothing differs.</p>}
        {settings && settings.length > 0 && <SettingChanges changes={settings} />}
      </section>
    </div>
  )
}

const imageWords = ({ from, to }: Comparison['image']) => {
  if (to === null) return 'not kept on this server'
  return from === to ? 'the same' : 'a different one, kept on this server'
}

const NotKept = () => (
  <p class="hint">
    Not known: Davit keeps these for the last 20 deployments that went live, while their images are
    kept.
  </p>
)
