/* lapack_names.inc.c: the routines of LAPACK in use, by the Fortran names that libopenblas exports.
 *
 * What must stay true: included with LAPACK(name) for single and for double. Numbers of the
 * routine's type are `void *` here, so that both have one C type; all sizes are pointers to int.
 */
void LAPACK(gesv)(INT n, INT nrhs, void *a, INT lda, int *piv, void *b, INT ldb, int *info);
void LAPACK(trtrs)(LETTER uplo, LETTER trans, LETTER diag, INT n, INT nrhs, const void *a, INT lda,
                   void *b, INT ldb, int *info);
void LAPACK(gels)(LETTER trans, INT m, INT n, INT nrhs, void *a, INT lda, void *b, INT ldb,
                  void *work, INT lwork, int *info);
void LAPACK(getrf)(INT m, INT n, void *a, INT lda, int *piv, int *info);
void LAPACK(getri)(INT n, void *a, INT lda, INT piv, void *work, INT lwork, int *info);
void LAPACK(syev)(LETTER job, LETTER uplo, INT n, void *a, INT lda, void *w, void *work, INT lwork,
                  int *info);
void LAPACK(geev)(LETTER left, LETTER right, INT n, void *a, INT lda, void *re, void *im, void *vl,
                  INT ldvl, void *vr, INT ldvr, void *work, INT lwork, int *info);
void LAPACK(gesvd)(LETTER jobu, LETTER jobvt, INT m, INT n, void *a, INT lda, void *s, void *u,
                   INT ldu, void *vt, INT ldvt, void *work, INT lwork, int *info);
void LAPACK(potrf)(LETTER uplo, INT n, void *a, INT lda, int *info);
void LAPACK(potri)(LETTER uplo, INT n, void *a, INT lda, int *info);
void LAPACK(potrs)(LETTER uplo, INT n, INT nrhs, const void *a, INT lda, void *b, INT ldb,
                   int *info);
void LAPACK(pstrf)(LETTER uplo, INT n, void *a, INT lda, int *piv, int *rank, const void *tol,
                   void *work, int *info);
void LAPACK(geqrf)(INT m, INT n, void *a, INT lda, void *tau, void *work, INT lwork, int *info);
void LAPACK(orgqr)(INT m, INT n, INT k, void *a, INT lda, const void *tau, void *work, INT lwork,
                   int *info);
void LAPACK(ormqr)(LETTER side, LETTER trans, INT m, INT n, INT k, const void *a, INT lda,
                   const void *tau, void *c, INT ldc, void *work, INT lwork, int *info);
