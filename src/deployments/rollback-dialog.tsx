import { VariableChanges } from '../environments/variable-changes.tsx'
import type { VariableChange } from '../environments/variable-changes.tsx'
import type { Environment } from '../environments/store.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { Choice } from '../web/choice.tsx'
import { Fact } from '../web/components.tsx'
import { InfoModal, ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { ButtonLink } from '../web/form.tsx'
import { SettingChanges, Versions } from './difference-view.tsx'
import type { RollbackPreview } from './preview.ts'
import type { Deployment } from './store.ts'

export const rollbackPath = (deployment: Parameters<typeof deploymentPath>[0]) =>
  `${deploymentPath(deployment)}/rollback`

/** Offers the version whose containers are kept. */
export const KeptVersion = ({ deployment }: { deployment: Deployment }) => (
  <p class="muted">
    <a href={deploymentPath(deployment)}>#{deployment.number}</a> is kept:{' '}
    <ButtonLink variant="outline" small opens={rollbackPath(deployment)}>
      Roll back at once…
    </ButtonLink>
  </p>
)

type Props = {
  environment: Environment
  target: Deployment
  preview: RollbackPreview
  draft: Draft
}

export const RollbackDialog = ({ environment, target, preview, draft }: Props) => {
  const title = (
    <>
      {preview.isLive ? 'Restart' : 'Roll back'} <bdi>{environment.name}</bdi>
    </>
  )
  const from = { href: deploymentPath(target), name: 'Deployment' }
  if (preview.refused)
    return (
      <InfoModal title={title} from={from}>
        <p>{preview.refused}</p>
      </InfoModal>
    )
  const { isLive, image, variables, settings, releaseCommand, interruption } = preview
  return (
    <ModalForm
      title={title}
      from={from}
      action={rollbackPath(target)}
      submit={isLive ? 'Restart' : 'Roll back'}
      draft={draft}
      wide
    >
      {isLive && <p>This deployment is live: its image restarts, without a build.</p>}
      <Versions
        {...preview}
        target={target}
        names={{ target: 'Rolls back to', back: 'Reverts', forward: 'Restores' }}
      >
        {image.from === image.to
          ? 'the running one'
          : preview.kept
            ? 'kept with its containers, which start again unless something else changes'
            : 'kept on this server, so there is no build'}
      </Versions>
      <fieldset class="rollback-variables">
        <legend>Variables</legend>
        {draft.errors.variables && <p class="field-error">{draft.errors.variables}</p>}
        <Choice
          name="variables"
          value="today"
          label="Current"
          chosen={draft.values.variables !== 'release'}
          hint="As they are stored now."
        >
          <Changes of={variables.today.changes} />
        </Choice>
        <Choice
          name="variables"
          value="release"
          label="From that deployment"
          chosen={draft.values.variables === 'release'}
          disabled={variables.release.refused !== null}
          hint={
            variables.release.refused ??
            'Only for this rollback: stored variables stay unchanged, and the next deployment uses those. Variables of linked services are always current.'
          }
        >
          {!variables.release.refused && <Changes of={variables.release.changes} />}
        </Choice>
      </fieldset>
      {settings && settings.length > 0 && (
        <dl class="difference">
          <Fact name="Settings changed since the live deployment">
            <SettingChanges changes={settings} />
          </Fact>
        </dl>
      )}
      {releaseCommand && (
        <p>
          Runs the current release command first: <code>{releaseCommand}</code>. If it fails, the
          live version stays.
        </p>
      )}
      {interruption && (
        <p>
          The live version stops first, because both use the same {interruption}: the app doesn’t
          respond until the other version is ready.
        </p>
      )}
      <p class="muted">
        {!interruption && 'The live version keeps running until the other one is ready. '}
        Processes, limits and domains stay as they are now. Volumes and databases keep their data.
      </p>
    </ModalForm>
  )
}

/** Unknown if an earlier version of Davit created the live deployment, or a linked service can’t be read. */
const Changes = ({ of }: { of: VariableChange[] | null }) =>
  of ? <VariableChanges changes={of} /> : <p class="hint">The changes are unknown.</p>
