import { providers } from '../git/providers/registry.ts'
import { Button, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import type { Project } from './store.ts'
import type { Webhook } from './webhook.ts'

/** Shown until the provider has responded. */
export const WebhookPanelLoader = ({ project }: { project: Pick<Project, 'id'> }) => (
  <div
    class="waits"
    hx-get={`/projects/${project.id}/webhook`}
    hx-trigger="load"
    hx-swap="outerHTML"
    hx-target="this"
  />
)

type WebhookPanelProps = {
  project: Project
  /** Null when the provider didn’t respond; `trouble` says why. */
  webhook: Webhook | null
  trouble?: string | null
}

/** Shows whether the provider delivers, and buttons to register or remove the webhook. */
export const WebhookPanel = ({ project, webhook, trouble = null }: WebhookPanelProps) => (
  <section id="webhook-panel" class="settings-section" aria-labelledby="webhook-panel-heading">
    <div>
      <h2 id="webhook-panel-heading">At the provider</h2>
      <p class="muted">
        {project.sourceId
          ? 'Davit registers the webhook with the token of the git source, and removes it with the project.'
          : 'For a project with a git source, Davit can register the webhook itself.'}
      </p>
    </div>
    <div class="form">
      <State {...{ project, webhook, trouble }} />
      {webhook?.url && !webhook.sharedWith && !project.deletingAt && (
        <div class="form-actions start">
          <PostForm {...replacing(project)}>
            <Button variant={webhook.own ? 'outline' : undefined}>
              {webhook.registered ? 'Register webhook again' : 'Register webhook'}
            </Button>
          </PostForm>
          {webhook.registered && <Remove project={project} />}
        </div>
      )}
    </div>
  </section>
)

const State = ({ project, webhook, trouble }: Required<WebhookPanelProps>) => {
  if (!webhook) return <p role="status">{trouble}</p>
  const { provider, url, registered, own, sharedWith } = webhook
  if (provider === null)
    return (
      <p>
        Add it by hand, with the address and the secret under{' '}
        <a href={`/projects/${project.id}/deliveries`}>Webhooks</a>.
      </p>
    )
  const { title } = providers[provider]
  if (url === null)
    return (
      <p>Set DAVIT_URL to the address at which {title} can reach Davit. Then it can be added.</p>
    )
  if (!registered) return <p>{title} doesn’t report pushes to Davit yet.</p>
  if (sharedWith)
    return (
      <p class="saved">
        <Icon name="check" />
        {title} reports every push to Davit, through the webhook of{' '}
        <a href={`/projects/${sharedWith.id}/deliveries`}>{sharedWith.name}</a>.
      </p>
    )
  return own ? (
    <p class="saved" data-announce="Registered">
      <Icon name="check" />
      {title} reports every push to Davit.
    </p>
  ) : (
    <p>
      {title} has a webhook to this address that Davit didn’t add. Register it again to set this
      project’s secret.
    </p>
  )
}

const replacing = ({ id }: Project) => ({
  action: `/projects/${id}/webhook`,
  replaces: '#webhook-panel',
})

const Remove = ({ project }: { project: Project }) => (
  <PostForm
    {...replacing(project)}
    method="DELETE"
    question={{
      text: 'Remove the webhook? Pushes no longer deploy.',
      answer: 'Remove webhook',
    }}
  >
    <Button quiet variant="ghost">
      Remove
    </Button>
  </PostForm>
)
