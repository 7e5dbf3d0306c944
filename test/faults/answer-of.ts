/** What an app answers, or why it does not. */
export const answerOf = (url: string) =>
  fetch(url).then(
    (response) => response.text(),
    (error: Error) => error.message,
  )
