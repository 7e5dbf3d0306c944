import type { projects } from '../db/schema.ts'
import { TextField } from '../web/fields-view.tsx'
import type { ProviderName } from './provider.ts'

export type Receiver = { provider: ProviderName; url: string }

/** What to enter at the provider: the address, and the secret when a new one was made. */
export const WebhookSetup = ({
  project,
  receivers,
  secret = null,
}: {
  project: Pick<typeof projects.$inferSelect, 'id' | 'webhookId'>
  receivers: Receiver[]
  /** Shown once, when it was made. */
  secret?: string | null
}) => (
  <section id="webhook-setup" class="settings-section" aria-labelledby="setup-heading">
    <div>
      <h2 id="setup-heading">Webhook</h2>
      <p class="muted">
        Add it to the repository at your provider, for pushes (on GitLab also for tag pushes, where
        an environment follows a tag), sent as JSON, with the secret of this project.
      </p>
    </div>
    <div class="form">
      {receivers.map(({ provider, url }) => (
        <TextField
          name="address"
          id={`address-${provider}`}
          label={`Address for ${titles[provider]}`}
          value={url}
          readonly
          code
        />
      ))}
      {secret ? (
        <TextField
          name="secret"
          label="Secret"
          value={secret}
          hint="Copy it now: it is not shown again. The one before it is not accepted any more."
          readonly
          code
        />
      ) : (
        <p class="muted">The secret was shown when it was made. If it is lost, make a new one.</p>
      )}
      <div class="form-actions start">
        <button
          type="button"
          class="btn"
          data-variant="outline"
          hx-post={`/projects/${project.id}/webhook-secret`}
          hx-target="#webhook-setup"
          hx-swap="outerHTML"
          hx-confirm={
            project.webhookId
              ? 'Make a new secret? The webhook at the provider gets it too.'
              : 'Make a new secret? The provider’s webhook is refused until it has it too.'
          }
        >
          New secret
        </button>
      </div>
    </div>
  </section>
)

export const titles: Record<ProviderName, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea or Forgejo',
}
