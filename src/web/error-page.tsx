/** A refusal as a fragment, shown where the user looks. */
export const ErrorAlert = ({ title, detail }: { title: string; detail: string }) => (
  <div class="alert" data-variant="destructive" role="alert">
    <h2>{title}</h2>
    <section>{detail}</section>
  </div>
)

export const ErrorPage = ({
  status,
  title,
  detail,
  requestId,
}: {
  status: number
  title: string
  detail: string
  requestId: string
}) => (
  <div class="error-page">
    <p class="error-status">{status}</p>
    <h1>{title}</h1>
    <p>{detail}</p>
    <p class="muted">
      Request <code>{requestId}</code>
    </p>
    <p>
      <a class="btn" data-variant="outline" href="/">
        Back to the start
      </a>
    </p>
  </div>
)
