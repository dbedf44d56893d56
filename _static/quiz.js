// Marks the quizzes on the page: no server, nothing is stored.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form.quiz")) return;
  event.preventDefault();
  let right = 0;
  const questions = form.querySelectorAll(".quiz-question");
  questions.forEach((question) => {
    const chosen = question.querySelector("input:checked");
    const correct = Boolean(chosen) && chosen.value === question.dataset.right;
    right += correct;
    const answer = question.querySelector(".quiz-answer");
    answer.hidden = false;
    answer.textContent = (correct ? "Right. " : chosen ? "Not quite. " : "Not answered. ") + question.dataset.why;
    question.dataset.result = correct ? "right" : "wrong";
  });
  form.querySelector("output").textContent = `${right} of ${questions.length} right`;
});
